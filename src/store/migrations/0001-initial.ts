/** The first schema. Times are milliseconds, booleans 0 or 1, structured values JSON text. */
import type { Dialect } from './dialect.ts'

export const initial = ({ identity, integer }: Dialect): string[] => [
  ...catalog(identity, integer),
  ...tooling(identity, integer),
  ...running(identity, integer),
  ...edges(identity, integer),
]

/** Agents never vanish while runs point at them: a removed one keeps its row and its versions. */
const catalog = (identity: string, integer: string) => [
  `CREATE TABLE environments (
    id ${identity},
    name TEXT NOT NULL UNIQUE,
    description TEXT NOT NULL,
    agents_count ${integer} NOT NULL DEFAULT 0,
    mcp_servers_count ${integer} NOT NULL DEFAULT 0,
    tools_count ${integer} NOT NULL DEFAULT 0,
    last_sync TEXT,
    created_at ${integer} NOT NULL,
    updated_at ${integer} NOT NULL
  )`,
  `CREATE TABLE agents (
    id ${identity},
    environment_id ${integer} NOT NULL REFERENCES environments (id),
    name TEXT NOT NULL,
    version ${integer} NOT NULL,
    source TEXT NOT NULL CHECK (source IN ('api', 'file')),
    file TEXT,
    created_at ${integer} NOT NULL,
    updated_at ${integer} NOT NULL,
    removed_at ${integer}
  )`,
  'CREATE UNIQUE INDEX agents_by_name ON agents (environment_id, name) WHERE removed_at IS NULL',
  'CREATE INDEX agents_by_bare_name ON agents (name) WHERE removed_at IS NULL',
  'CREATE INDEX agents_by_environment ON agents (environment_id, id) WHERE removed_at IS NULL',
  'CREATE INDEX agents_listed ON agents (id) WHERE removed_at IS NULL',
  `CREATE TABLE agent_versions (
    agent_id ${integer} NOT NULL REFERENCES agents (id),
    version ${integer} NOT NULL,
    name TEXT NOT NULL,
    description TEXT NOT NULL,
    model TEXT,
    tools TEXT,
    notify ${integer} NOT NULL,
    enabled ${integer} NOT NULL,
    max_steps ${integer} NOT NULL,
    timeout_seconds ${integer} NOT NULL,
    max_concurrency ${integer},
    variables TEXT NOT NULL,
    prompt TEXT NOT NULL,
    created_at ${integer} NOT NULL,
    PRIMARY KEY (agent_id, version)
  )`,
]

/** The last good tool list of each server survives a restart, so that a start spawns nothing unchanged. */
const tooling = (identity: string, integer: string) => [
  `CREATE TABLE mcp_servers (
    id ${identity},
    environment_id ${integer} NOT NULL REFERENCES environments (id),
    name TEXT NOT NULL,
    transport TEXT NOT NULL CHECK (transport IN ('stdio', 'http')),
    config TEXT NOT NULL,
    config_hash TEXT NOT NULL,
    status TEXT NOT NULL CHECK (status IN ('idle', 'connecting', 'up', 'down')),
    error TEXT,
    tools_count ${integer} NOT NULL DEFAULT 0,
    last_connected_at ${integer},
    UNIQUE (environment_id, name)
  )`,
  `CREATE TABLE tools (
    id ${identity},
    server_id ${integer} NOT NULL REFERENCES mcp_servers (id) ON DELETE CASCADE,
    environment_id ${integer} NOT NULL REFERENCES environments (id),
    name TEXT NOT NULL,
    own_name TEXT NOT NULL,
    description TEXT NOT NULL,
    annotations TEXT NOT NULL,
    input_schema TEXT NOT NULL,
    UNIQUE (server_id, own_name),
    UNIQUE (environment_id, name)
  )`,
]

/**
 * A run and its journal. Every write for a run carries the epoch of its owner; an older one touches no row.
 * A step is written twice: its intent before the effect, its outcome after. Large columns stand last,
 * so that lists read past none of them.
 */
const running = (identity: string, integer: string) => [
  `CREATE TABLE runs (
    id ${identity},
    agent_id ${integer} NOT NULL,
    agent_name TEXT NOT NULL,
    agent_version ${integer} NOT NULL,
    environment_id ${integer} NOT NULL,
    environment TEXT NOT NULL,
    status TEXT NOT NULL CHECK (status IN ('running', 'completed', 'error')),
    phase TEXT CHECK (phase IN ('queued', 'executing', 'waiting', 'recovering')),
    owner TEXT,
    epoch ${integer} NOT NULL DEFAULT 0,
    attempts ${integer} NOT NULL DEFAULT 0,
    consumed_ms ${integer} NOT NULL DEFAULT 0,
    timeout_seconds ${integer} NOT NULL,
    cancel_requested_at ${integer},
    journal_version ${integer} NOT NULL,
    journal_seq ${integer} NOT NULL DEFAULT 0,
    model TEXT,
    input_tokens ${integer} NOT NULL DEFAULT 0,
    output_tokens ${integer} NOT NULL DEFAULT 0,
    cost_usd REAL,
    steps_count ${integer} NOT NULL DEFAULT 0,
    tool_calls_count ${integer} NOT NULL DEFAULT 0,
    source_type TEXT NOT NULL CHECK (source_type IN ('api', 'webhook', 'mcp', 'cli', 'ui')),
    principal TEXT,
    created_at ${integer} NOT NULL,
    started_at ${integer},
    completed_at ${integer},
    error_code TEXT,
    error_message TEXT,
    message TEXT NOT NULL,
    callback_url TEXT,
    source TEXT NOT NULL,
    variables TEXT NOT NULL,
    task TEXT NOT NULL,
    result TEXT,
    messages TEXT NOT NULL
  )`,
  'CREATE INDEX runs_by_status ON runs (status, id)',
  'CREATE INDEX runs_by_agent ON runs (agent_id, id)',
  'CREATE INDEX runs_by_agent_and_status ON runs (agent_id, status, id)',
  'CREATE INDEX runs_by_environment ON runs (environment_id, id)',
  'CREATE INDEX runs_by_source ON runs (source_type, id)',
  'CREATE INDEX runs_by_time ON runs (created_at, id)',
  `CREATE INDEX runs_unfinished ON runs (phase, id) WHERE status = 'running'`,
  `CREATE TABLE run_counts (
    agent_id ${integer} NOT NULL,
    status TEXT NOT NULL,
    environment_id ${integer} NOT NULL,
    count ${integer} NOT NULL,
    PRIMARY KEY (agent_id, status)
  )`,
  `CREATE TABLE steps (
    run_id ${integer} NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    key TEXT NOT NULL,
    seq ${integer} NOT NULL,
    epoch ${integer} NOT NULL,
    type TEXT NOT NULL CHECK (type IN ('model', 'tool')),
    name TEXT NOT NULL,
    server TEXT,
    status TEXT NOT NULL CHECK (status IN ('running', 'completed', 'error', 'unknown')),
    attempts ${integer} NOT NULL DEFAULT 1,
    input_tokens ${integer},
    output_tokens ${integer},
    cost_usd REAL,
    started_at ${integer} NOT NULL,
    completed_at ${integer},
    error TEXT,
    input TEXT,
    output TEXT,
    PRIMARY KEY (run_id, key)
  )`,
  'CREATE INDEX steps_by_seq ON steps (run_id, seq)',
]

/** What stands at the doors: repeated requests, keys, and events on their way out. */
const edges = (identity: string, integer: string) => [
  `CREATE TABLE idempotency_keys (
    principal TEXT NOT NULL,
    route TEXT NOT NULL,
    key TEXT NOT NULL,
    body_hash TEXT NOT NULL,
    response TEXT NOT NULL,
    created_at ${integer} NOT NULL,
    PRIMARY KEY (principal, route, key)
  )`,
  'CREATE INDEX idempotency_keys_by_age ON idempotency_keys (created_at)',
  `CREATE TABLE api_keys (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    scopes TEXT NOT NULL,
    prefix TEXT NOT NULL,
    hash TEXT NOT NULL,
    created_at ${integer} NOT NULL,
    expires_at ${integer},
    last_used_at ${integer},
    revoked_at ${integer}
  )`,
  'CREATE INDEX api_keys_by_age ON api_keys (created_at)',
  `CREATE TABLE deliveries (
    id ${identity},
    run_id ${integer} NOT NULL,
    type TEXT NOT NULL CHECK (type IN ('run.completed', 'run.failed')),
    status TEXT NOT NULL CHECK (status IN ('waiting', 'delivered', 'failed')),
    url TEXT NOT NULL,
    attempts ${integer} NOT NULL DEFAULT 0,
    next_attempt_at ${integer},
    last_status ${integer},
    last_error TEXT,
    created_at ${integer} NOT NULL,
    delivered_at ${integer},
    body TEXT NOT NULL
  )`,
  `CREATE INDEX deliveries_due ON deliveries (status, next_attempt_at) WHERE status = 'waiting'`,
  'CREATE INDEX deliveries_by_run ON deliveries (run_id)',
  'CREATE INDEX deliveries_by_status ON deliveries (status, id)',
]
