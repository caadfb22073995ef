import { agentsRules } from './rules/agents.ts'
import { authRules } from './rules/auth.ts'
import { cliRules } from './rules/cli.ts'
import { configRules } from './rules/config.ts'
import { docsRules } from './rules/docs.ts'
import { engineRules } from './rules/engine.ts'
import { environmentsRules } from './rules/environments.ts'
import { guardRules } from './rules/guard.ts'
import { healthRules } from './rules/health.ts'
import { limitsRules } from './rules/limits.ts'
import { mcpRules } from './rules/mcp.ts'
import { modelsRules } from './rules/models.ts'
import { notifyRules } from './rules/notify.ts'
import { oauthRules } from './rules/oauth.ts'
import { platformRules } from './rules/platform.ts'
import { promptsRules } from './rules/prompts.ts'
import { restRules } from './rules/rest.ts'
import { runningRules } from './rules/running.ts'
import { runsRules } from './rules/runs.ts'
import { scaleRules } from './rules/scale.ts'
import { toolsRules } from './rules/tools.ts'
import { uiRules } from './rules/ui.ts'
import { webhookRules } from './rules/webhook.ts'

/** Every rule of the product by its id; a test names the ids that it proves. */
export const RULES = {
  ...runningRules,
  ...configRules,
  ...guardRules,
  ...restRules,
  ...healthRules,
  ...docsRules,
  ...agentsRules,
  ...environmentsRules,
  ...promptsRules,
  ...webhookRules,
  ...runsRules,
  ...engineRules,
  ...modelsRules,
  ...toolsRules,
  ...authRules,
  ...oauthRules,
  ...platformRules,
  ...limitsRules,
  ...notifyRules,
  ...scaleRules,
  ...mcpRules,
  ...cliRules,
  ...uiRules,
}

export type RuleId = keyof typeof RULES
