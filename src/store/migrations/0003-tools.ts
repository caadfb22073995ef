/** What tools need beyond the first schema: whether a stored list is still true, and what each run was offered. */
import type { Dialect } from './dialect.ts'

export const tools = ({ integer }: Dialect): string[] => [
  // The configuration under which the stored list was obtained: another one today means that it has to be asked again.
  'ALTER TABLE mcp_servers ADD COLUMN listed_hash TEXT',
  // A file that cannot be understood takes none of its servers away.
  'ALTER TABLE mcp_servers ADD COLUMN file TEXT',
  'CREATE INDEX tools_by_environment ON tools (environment_id, id)',
  // Runs of the same agent are offered the same, so what they were offered is kept once, under its hash.
  `CREATE TABLE toolsets (
    hash TEXT PRIMARY KEY,
    used_at ${integer} NOT NULL,
    tools TEXT NOT NULL
  )`,
  'CREATE INDEX toolsets_by_use ON toolsets (used_at)',
  'ALTER TABLE runs ADD COLUMN toolset TEXT',
]
