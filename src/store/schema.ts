/** The tables as the readers see them. */
import type { McpServer, ServerStatus } from '../contract/mcp-server.ts'
import type { RunFailure, RunPhase, RunStatus, SourceType } from '../contract/run.ts'

export interface Tables {
  environments: EnvironmentRow
  agents: AgentRow
  agent_versions: AgentVersionRow
  mcp_servers: ServerRow
  tools: ToolRow
  runs: RunRow
  run_counts: { agent_id: number; status: RunStatus; environment_id: number; count: number }
  steps: StepRow
  idempotency_keys: IdempotencyKeyRow
}

export interface EnvironmentRow {
  id: number
  name: string
  description: string
  agents_count: number
  mcp_servers_count: number
  tools_count: number
  last_sync: string | null
  created_at: number
  updated_at: number
}

interface AgentRow {
  id: number
  environment_id: number
  name: string
  version: number
  source: 'api' | 'file'
  file: string | null
  created_at: number
  updated_at: number
  removed_at: number | null
}

interface AgentVersionRow {
  agent_id: number
  version: number
  name: string
  description: string
  model: string | null
  tools: string | null
  notify: number
  enabled: number
  max_steps: number
  timeout_seconds: number
  max_concurrency: number | null
  variables: string
  prompt: string
  created_at: number
}

interface ServerRow {
  id: number
  environment_id: number
  name: string
  transport: McpServer['transport']
  config: string
  config_hash: string
  status: ServerStatus
  error: string | null
  tools_count: number
  last_connected_at: number | null
  listed_hash: string | null
}

interface ToolRow {
  id: number
  server_id: number
  environment_id: number
  name: string
  own_name: string
  description: string
  annotations: string
  input_schema: string
}

export interface RunRow {
  id: number
  agent_id: number
  agent_name: string
  agent_version: number
  environment_id: number
  environment: string
  status: RunStatus
  phase: RunPhase | null
  attempts: number
  journal_seq: number
  model: string | null
  input_tokens: number
  output_tokens: number
  cost_usd: number | null
  steps_count: number
  tool_calls_count: number
  source_type: SourceType
  created_at: number
  started_at: number | null
  completed_at: number | null
  error_code: RunFailure['code'] | null
  error_message: string | null
  message: string
  source: string
  variables: string
  task: string
  result: string | null
  messages: string
}

export interface StepRow {
  run_id: number
  key: string
  position: number
  seq: number
  type: 'model' | 'tool'
  name: string
  server: string | null
  status: 'running' | 'completed' | 'error' | 'unknown'
  attempts: number
  input_tokens: number | null
  output_tokens: number | null
  started_at: number
  completed_at: number | null
  error: string | null
  input: string | null
  output: string | null
}

interface IdempotencyKeyRow {
  principal: string
  route: string
  key: string
  body_hash: string
  response: string
  created_at: number
}
