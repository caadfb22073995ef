/** The configuration page, from the schema itself. */
import { LEAVES, type Leaf } from '../src/config/leaves.ts'

const INTRO = `# Configuration

A flag wins over a variable, a variable over \`config.yaml\` in the home folder, and that over the default.
\`agenthost config\` shows what holds and where it came from, secrets masked.

- Variables: lists by comma, \`true\` or \`false\`; an empty value counts as not set (an empty webhook key is refused).
- \`config.yaml\` nests the keys at their dots and may carry the marker \`agenthost: 1\`, which makes its folder a home.
  An unknown key or a wrong value stops the start (exit code 2) with the key, the place and, where one is near, the valid key.
- An unknown \`SVC_*\` variable is a warning with the nearest name.
- Provider keys come from the environment only: \`OPENAI_API_KEY\`, \`ANTHROPIC_API_KEY\`, \`GOOGLE_API_KEY\` (or
  \`GEMINI_API_KEY\`).
- The home folder: \`--home\`, else \`SVC_HOME\`, else the nearest parent folder whose \`config.yaml\` has the marker, else
  \`agenthost\` in the XDG data folder.

Settings of parts that are not there yet (notify, events, platform, mcp) are checked and do nothing.

This page is written by \`npm run docs\` from the schema and \`scripts/configuration-table.ts\`; a test compares.

| Key | Variable | Flag | Default | Meaning |
|---|---|---|---|---|
`

export const configurationPage = (): string => `${INTRO}${LEAVES.map(row).join('\n')}\n`

function row({ key, env, flag, schema, description, secret }: Leaf): string {
  const value = schema.safeParse(undefined).data
  const cells = [
    `\`${key}\``,
    `\`${env}\``,
    flag ? `\`${flag}\`` : '',
    shown(value),
    `${description}${secret ? ' (secret)' : ''}`,
  ]
  return `| ${cells.join(' | ')} |`
}

function shown(value: unknown): string {
  if (value === undefined) return 'none'
  return Array.isArray(value) && value.length === 0 ? 'empty' : `\`${String(value)}\``
}
