import type { Rules } from './rule.ts'

/** The two MCP servers. */
export const mcpRules = {
  'mcp.manage-endpoint': {
    from: 'spec 1.3, decisions 1',
    says: 'The management MCP server answers at /mcp on port 8586.',
  },
  'mcp.agents-endpoint': {
    from: 'spec 4.4, spec 5.5, decisions 1',
    says: 'The dynamic-agent MCP server answers POST /mcp on port 8587.',
  },
  'mcp.create-agent': {
    from: 'spec 4.4, decisions 11',
    says: 'create_agent requires name, description, prompt, environment_id; notify and other fields are optional.',
  },
  'mcp.update-agent': { from: 'spec 4.4, decisions 11', says: 'update_agent requires agent_id and takes notify.' },
  'mcp.string-ids': { from: 'spec 2, decisions 11', says: 'Ids are strings in parameters; integers are accepted.' },
  'mcp.structured': { from: 'decisions 11', says: 'Results are the REST records as structured content.' },
  'mcp.agent-tools': {
    from: 'decisions 11',
    says: 'Port 8587 has one tool agent_<slug> for each enabled agent, with the arguments task and variables.',
  },
  'mcp.agent-tool-names': {
    from: 'decisions 11',
    says: 'The name of an agent tool has at most 64 characters, with a hash tail on collision.',
  },
  'mcp.run-tools': { from: 'decisions 11', says: 'Port 8587 has get_run, wait_run and cancel_run.' },
  'mcp.wait': {
    from: 'decisions 11',
    says: 'A call waits 600 s with a progress token, else 45 s, then answers with run_id and what to call next.',
  },
  'mcp.cancel-on-disconnect': {
    from: 'decisions 11',
    says: 'mcp.cancel_on_disconnect is off on 8586 and on for 8587.',
  },
  'mcp.shutdown-keeps-runs': { from: 'decisions 11', says: 'A shutdown of the service never cancels a run.' },
} as const satisfies Rules
