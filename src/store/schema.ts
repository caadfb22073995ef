/** The tables as the readers see them. */
export interface Tables {
  environments: EnvironmentRow
  agents: AgentRow
  agent_versions: AgentVersionRow
  mcp_servers: { status: 'idle' | 'connecting' | 'up' | 'down' }
  runs: { id: number; status: string; phase: string | null; created_at: number }
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
