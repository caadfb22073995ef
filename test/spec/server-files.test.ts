// Server files, read as the service reads them: real files, nothing started.
import { join } from 'node:path'
import { expect } from 'vitest'
import { readEntry, readEnvironment } from '../unit/server-files-house.ts'
import { proves } from './proves.ts'

proves('tools.files', 'every JSON file of an environment defines servers by command or by url', async () => {
  const { servers, errors, folder } = await readEnvironment({
    files: {
      'local.json': { mcpServers: { files: { command: 'npx', args: ['-y', 'server'], env: { A: 'b' }, cwd: 'data' } } },
      'remote.json': { mcpServers: { search: { url: 'https://example.com/mcp', headers: { 'X-A': 'b' } } } },
    },
  })
  expect(errors).toEqual([])
  expect(servers).toMatchObject([
    {
      name: 'files',
      transport: 'stdio',
      shown: { command: 'npx', args: ['-y', 'server'] },
      config: { target: { command: 'npx', args: ['-y', 'server'], env: { A: 'b' }, cwd: join(folder, 'data') } },
    },
    {
      name: 'search',
      transport: 'http',
      shown: { url: 'https://example.com/mcp' },
      config: { target: { url: 'https://example.com/mcp', headers: { 'X-A': 'b' } } },
    },
  ])
})

proves('tools.file-extras', 'a server takes timeouts, retry, trusted and disabled', async () => {
  const extras = { timeout_seconds: 5, connect_timeout_seconds: 6, retry: 'never', trusted: true, disabled: true }
  const { config, server } = await readEntry({ command: 'x', ...extras })
  expect(config).toMatchObject({ timeout_ms: 5000, connect_timeout_ms: 6000, retry: 'never', trusted: true })
  expect(server?.disabled).toBe(true)
  const plain = await readEntry({ command: 'x' })
  expect(plain.config).toMatchObject({ timeout_ms: 60_000, connect_timeout_ms: 20_000 })
  expect(plain.config).not.toHaveProperty('retry')
  expect(plain.server?.disabled).toBe(false)
})

proves('tools.variables', 'variables come from variables.yml, then the process, then their default', async () => {
  const files = { 'variables.yml': 'A: file' }
  const variables = { A: 'process', B: 'process' }
  const { config } = await readEntry(
    { command: 'x', args: ['${A}', '${B:-default}', '${C:-default}'] },
    { files, variables },
  )
  expect(config?.target).toMatchObject({ args: ['file', 'process', 'default'] })
})
