// Tool servers and the service as a process: what a start spawns, what an end leaves, and what outlasts a kill.
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { makeHome, type TestHome } from '../support/home.ts'
import { isAlive } from '../support/processes.ts'
import { type ServiceProcess, startService } from '../support/service-process.ts'
import { serverFile, toolServer } from '../support/tool-server/files.ts'
import { until } from '../support/until.ts'
import { proves } from './proves.ts'

// biome-ignore lint/suspicious/noExplicitAny: tests assert on whatever came back
async function api(service: ServiceProcess, method: string, path: string, body?: object): Promise<any> {
  const init = body ? { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } } : {}
  return (await fetch(`${service.api}/api/v1${path}`, { method, ...init })).json()
}

const statusOf = async (service: ServiceProcess, name: string) => {
  const { data } = await api(service, 'GET', '/mcp-servers')
  return data.find((server: { name: string }) => server.name === name)?.status
}

const ended = async (service: ServiceProcess, id: number) => (await api(service, 'GET', `/runs/${id}?wait=30`)).data

async function withServer(home: TestHome, more: object = {}, ...tools: string[]) {
  const server = await toolServer(home, 'one', ...tools)
  await home.put('environments/default/servers.json', serverFile({ one: { ...server.entry, ...more } }))
  return server
}

describe('a start', () => {
  proves('tools.start-spawns-nothing', 'connects what is new, and nothing that has not changed since', async () => {
    await using home = await makeHome()
    const server = await withServer(home, {}, 'echo')
    {
      await using service = await startService({ home: home.home })
      await until('it is listed', async () => (await api(service, 'GET', '/tools')).data.length === 1)
      await service.end('SIGTERM')
    }
    expect(server.starts()).toHaveLength(1)
    await using service = await startService({ home: home.home })
    await until('the sync at start is over', async () => {
      const { data } = await api(service, 'GET', '/environments/default')
      return Date.parse(data.last_sync.at) > Date.now() - 5000
    })
    expect((await api(service, 'GET', '/tools')).data).toMatchObject([{ name: 'echo', server: 'one' }])
    expect(await statusOf(service, 'one')).toBe('idle')
    expect(server.starts()).toHaveLength(1)
    const { data: made } = await api(service, 'POST', '/agents', { name: 'a', prompt: 'Help.' })
    const { data: run } = await api(service, 'POST', `/agents/${made.id}/run?wait=30`, { task: 'call echo {}' })
    expect(run).toMatchObject({ status: 'completed', tool_calls_count: 1 })
    expect(server.starts()).toHaveLength(2)
  })

  proves('tools.bad-server-blocks-nobody', 'does not wait for a server that hangs', async () => {
    await using home = await makeHome()
    const hanging = { command: process.execPath, args: ['-e', 'setInterval(() => {}, 1000)'] }
    await home.put('environments/default/servers.json', serverFile({ hanging }))
    await using service = await startService({ home: home.home })
    expect((await api(service, 'GET', '/health')).data.status).toMatch(/ok|degraded/)
    await until('it is being connected', async () => (await statusOf(service, 'hanging')) === 'connecting')
    expect(await service.end('SIGTERM')).toMatchObject({ code: 0 })
  })
})

describe('an end', () => {
  test('in good order leaves no tool server behind', async () => {
    await using home = await makeHome()
    const server = await withServer(home, {}, 'echo')
    await using service = await startService({ home: home.home })
    await until('it is up', async () => (await statusOf(service, 'one')) === 'up')
    await service.end('SIGTERM')
    expect(server.starts().filter(isAlive)).toEqual([])
  })

  test('by kill -9 leaves nothing that listens to its input, and the next start ends what does not', async () => {
    await using home = await makeHome()
    const stubborn = join(home.home, 'stubborn.pid')
    const script = `require('fs').writeFileSync(${JSON.stringify(stubborn)}, String(process.pid))
      process.on('SIGTERM', () => {}); setInterval(() => {}, 1000)`
    const server = await withServer(home, {}, 'echo')
    const entries = { one: server.entry, stubborn: { command: process.execPath, args: ['-e', script] } }
    await home.put('environments/default/servers.json', serverFile(entries))
    const service = await startService({ home: home.home })
    await until('both run', async () => {
      const pid = Number(await readFile(stubborn, 'utf8').catch(() => '0'))
      return pid > 0 && (await statusOf(service, 'one')) === 'up'
    })
    await service.end('SIGKILL')
    const pid = Number(await readFile(stubborn, 'utf8'))
    await until('the polite one is gone', () => !server.starts().some(isAlive))
    expect(isAlive(pid)).toBe(true)
    await home.put('environments/default/servers.json', serverFile({ one: server.entry }))
    await using next = await startService({ home: home.home })
    await until(`the stubborn one is gone after ${next.api} answers`, () => !isAlive(pid))
  })
})

describe('a kill in the middle of a run', () => {
  proves('tools.frozen', 'does not change the tools that the run has', async () => {
    await using home = await makeHome()
    const server = await withServer(home, { retry: 'safe' }, 'hold', 'old')
    const service = await startService({ home: home.home })
    await until('it is up', async () => (await statusOf(service, 'one')) === 'up')
    const { data: made } = await api(service, 'POST', '/agents', { name: 'a', prompt: 'Help.' })
    const task = 'call hold {"ms": 3000}\ncall old {}\ncall late {}'
    const { data: run } = await api(service, 'POST', `/agents/${made.id}/run`, { task })
    await until('the first call is under way', async () => {
      return (await api(service, 'GET', `/runs/${run.run_id}`)).data.steps.length > 1
    })
    await service.end('SIGKILL')
    await server.offers('hold', 'late')
    await using next = await startService({ home: home.home })
    await api(next, 'POST', '/environments/default/sync')
    const { data: tools } = await api(next, 'GET', '/tools')
    expect(tools.map((tool: { name: string }) => tool.name).sort()).toEqual(['hold', 'late'])
    const { status, steps } = await ended(next, run.run_id)
    expect(status).toBe('completed')
    expect(steps.find((step: { name: string }) => step.name === 'hold')).toMatchObject({
      status: 'completed',
      attempts: 2,
    })
    expect(steps.find((step: { name: string }) => step.name === 'old')).toMatchObject({ status: 'completed' })
    expect(steps.find((step: { name: string }) => step.name === 'late')).toMatchObject({ status: 'error' })
  })
})
