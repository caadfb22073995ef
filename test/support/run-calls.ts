// Starting runs and waiting for what becomes of them, over REST.
import { expect } from 'vitest'
import type { RunDetail } from '../../src/contract/run.ts'
import type { TestApp } from './app.ts'

export async function startRun(app: TestApp, agentId: number, task: string, more: object = {}): Promise<number> {
  const answer = await app.api('POST', `/agents/${agentId}/run`, { task, ...more })
  expect(answer).toMatchObject({ status: 202 })
  return answer.body.data.run_id
}

export async function readRun(app: TestApp, id: number): Promise<RunDetail> {
  return (await app.api('GET', `/runs/${id}`)).body.data
}

/** Resolves with the run once it has ended. */
export async function endedRun(app: TestApp, id: number): Promise<RunDetail> {
  const run = (await app.api('GET', `/runs/${id}?wait=25`)).body.data
  expect(run.status, JSON.stringify(run)).not.toBe('running')
  return run
}
