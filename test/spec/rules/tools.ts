import type { Rules } from './rule.ts'

/** Environments as sources of tools: server files, supervised connections, tool names. */
export const toolsRules = {
  'tools.files': {
    from: 'spec 1.1, decisions 5',
    says: 'environments/<env>/*.json in the mcpServers form defines servers by command or by url.',
  },
  'tools.file-extras': {
    from: 'decisions 5',
    says: 'A server takes timeout_seconds, connect_timeout_seconds, retry, trusted and disabled too.',
  },
  'tools.variables': {
    from: 'decisions 5',
    says: 'VAR in dollar braces, with `:-default` or not, is filled from variables.yml, then the process environment.',
  },
  'tools.variable-missing': {
    from: 'decisions 5',
    says: 'A missing variable marks that server down with its name, and nothing else.',
  },
  'tools.secrets-masked': {
    from: 'decisions 5',
    says: 'Secret values of a server are masked wherever they could be shown.',
  },
  'tools.commands-only-from-files': {
    from: 'decisions 5',
    says: 'No REST call, MCP call or import can set a stdio command.',
  },
  'tools.connect': {
    from: 'decisions 5',
    says: 'A sync and the first use connect a server; lists and dry runs never spawn one.',
  },
  'tools.start-spawns-nothing': {
    from: 'decisions 5',
    says: 'A start spawns no server that has not changed; tool lists are kept in the database.',
  },
  'tools.shared-connection': {
    from: 'decisions 5',
    says: 'All runs share one connection per environment, server and resolved config; parallel first calls start one.',
  },
  'tools.back-off': {
    from: 'decisions 5',
    says: 'A dead server is restarted after 1 s doubling to 60 s, with jitter.',
  },
  'tools.idle-close': {
    from: 'decisions 5',
    says: 'An idle connection is closed, and closing a stdio server kills its whole process group.',
  },
  'tools.last-good-list': { from: 'decisions 5', says: 'The last good tool list of a server that went down is kept.' },
  'tools.bad-server-blocks-nobody': {
    from: 'decisions 5',
    says: 'One bad server never blocks the start, a sync or another agent.',
  },
  'tools.own-name': {
    from: 'decisions 5',
    says: 'A tool unique in its environment has its own name, else <server>__<tool>.',
  },
  'tools.safe-names': {
    from: 'decisions 5',
    says: 'A tool name has at most 64 safe characters, and `__name` of an imported file resolves.',
  },
  'tools.frozen': { from: 'decisions 5', says: 'The tools of a run are frozen at its start.' },
  'tools.selection': {
    from: 'decisions 2',
    says: 'An agent is offered all tools of its environment when tools is null, else those named.',
  },
  'tools.error-is-answer': {
    from: 'decisions 5',
    says: 'The error of a tool and a dead server are answers to the model, not the end of the run.',
  },
  'tools.timeout': {
    from: 'decisions 5',
    says: 'A tool call over its timeout, 60 s by default, is answered to the model as an error.',
  },
  'tools.cut': {
    from: 'decisions 5',
    says: 'A result over 256 kB is cut for the model and kept, to a bound, in the step.',
  },
  'tools.list': { from: 'spec 4.2', says: 'GET /tools lists the tools with pagination.' },
  'tools.record': {
    from: 'decisions 2',
    says: 'A tool record has id, name, server, environment, description, input_schema and annotations.',
  },
  'tools.call': {
    from: 'decisions 2',
    says: 'POST /tools/:id/call tries one tool; an unknown one answers 404 TOOL_NOT_FOUND.',
  },
  'servers.list': { from: 'spec 4.2', says: 'GET /mcp-servers lists the MCP servers with pagination.' },
  'servers.record-target': {
    from: 'decisions 2',
    says: 'A server shows command and args, or url, with secret values masked.',
  },
  'servers.record-status': { from: 'decisions 2', says: 'status of a server is idle, connecting, up or down.' },
  'servers.record': {
    from: 'decisions 2',
    says: 'A server has id, name, environment, transport (stdio or http), error, tools_count and last_connected_at.',
  },
} as const satisfies Rules
