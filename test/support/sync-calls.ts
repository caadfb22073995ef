// The prompt files of the default environment, and a sync of them.
import { join } from 'node:path'
import { expect } from 'vitest'
import type { TestApp } from './app.ts'

export interface ListedAgent {
  id: number
  name: string
  prompt: string
  version: number
  source: string
}

export const agentsFolder = (app: TestApp) => join(app.home, 'environments/default/agents')

export const promptPath = (app: TestApp, file: string) => join(agentsFolder(app), file)

export const putPrompt = (app: TestApp, file: string, text: string) => app.put(`default/agents/${file}`, text)

export const namedPrompt = (name: string, prompt = 'Help.') => `---\nname: ${name}\n---\n${prompt}\n`

export async function sync(app: TestApp, body?: object) {
  const answer = await app.api('POST', '/environments/default/sync', body)
  expect(answer.status).toBe(200)
  return answer.body.data
}

export async function listAgents(app: TestApp): Promise<ListedAgent[]> {
  return (await app.api('GET', '/agents?limit=100')).body.data
}

export const agentNamed = async (app: TestApp, name: string) =>
  (await listAgents(app)).find((agent) => agent.name === name)
