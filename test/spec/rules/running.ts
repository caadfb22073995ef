import type { Rules } from './rule.ts'

/** How the service starts, where it listens, where its home is and how it stops. */
export const runningRules = {
  'running.two-commands': {
    from: 'decisions 1',
    says: '`npm ci && npm start` on a fresh machine brings all three listeners up.',
  },
  'running.nothing-else-needed': {
    from: 'decisions 1',
    says: 'A start needs no key, no Docker, no account and no network after the install.',
  },
  'running.embedded-database': {
    from: 'decisions 1',
    says: 'Without SVC_DATABASE_URL the data lives in an embedded SQLite database in data/ of the home.',
  },
  'running.example': { from: 'decisions 1', says: 'A first start has an example environment with an example agent.' },
  'running.api-port': {
    from: 'spec 1.2, decisions 1',
    says: 'The REST API listens on port 8585 unless SVC_API_PORT names another.',
  },
  'running.mcp-port': {
    from: 'spec 1.3, decisions 1',
    says: 'The management MCP server listens on port 8586 unless SVC_MCP_PORT names another.',
  },
  'running.agent-mcp-port': {
    from: 'spec 1.3, decisions 1',
    says: 'The dynamic-agent MCP server listens on port 8587 unless SVC_AGENT_MCP_PORT names another.',
  },
  'running.port-zero': { from: 'decisions 1', says: 'Port 0 takes any free port.' },
  'running.health-on-mcp-ports': {
    from: 'decisions 1',
    says: 'GET /health answers a bare object with status on ports 8586 and 8587.',
  },
  'running.ready-line': {
    from: 'decisions 1',
    says: 'Once all listeners answer, stdout has the line `ready api=http://… mcp=http://… agents=http://…`: real ports, no path.',
  },
  'running.logs-on-stderr': {
    from: 'decisions 1',
    says: 'Logs go to stderr; stdout carries nothing but the ready line.',
  },
  'running.loopback-default': {
    from: 'decisions 1',
    says: 'Without SVC_HOST only 127.0.0.1, and ::1 where there is one, is listened on.',
  },
  'running.host-setting': { from: 'decisions 1', says: 'SVC_HOST names the address that all three listeners bind to.' },
  'running.local-refuses-other-address': {
    from: 'decisions 1',
    says: 'Local mode refuses to start on any address that is not loopback.',
  },
  'running.insecure-no-auth': {
    from: 'decisions 1',
    says: '`--insecure-no-auth` or SVC_INSECURE_NO_AUTH=true lets local mode listen on any address.',
  },
  'running.public-url': {
    from: 'decisions 1',
    says: 'Wherever the service prints its own address it uses public_url.api, public_url.mcp or public_url.agents.',
  },
  'running.host-header-not-echoed': {
    from: 'decisions 1',
    says: 'No address that the service prints is built from the Host header.',
  },
  'running.home-setting': {
    from: 'decisions 1',
    says: 'SVC_HOME or `--home` names the home, which holds config.yaml, environments/ and data/.',
  },
  'running.home-nearest-parent': {
    from: 'decisions 1',
    says: 'Without a setting the home is the nearest parent folder whose config.yaml has the marker `agenthost: 1`.',
  },
  'running.home-xdg': {
    from: 'decisions 1',
    says: 'Without a setting and without such a parent folder the home is in the XDG data folder.',
  },
  'running.stop': {
    from: 'decisions 1',
    says: 'SIGTERM and SIGINT stop accepting and end the process with exit code 0.',
  },
  'running.drain': {
    from: 'decisions 1',
    says: 'A stop lets the current steps record for at most SVC_DRAIN_SECONDS, 20 by default.',
  },
  'running.continue-after-stop': {
    from: 'decisions 1',
    says: 'Runs that a stop left unfinished continue at the next start.',
  },
  'running.folder-in-use': {
    from: 'decisions 1, decisions 12',
    says: 'A second process on the same embedded data folder refuses with exit code 3 and the pid of the first.',
  },
  'running.ids-never-reused': { from: 'decisions 1', says: 'The id of a removed agent is never given to another one.' },
  'modes.local-default': { from: 'spec 1.6, decisions 1', says: 'local_mode is true by default.' },
  'modes.local-open': { from: 'spec 1.6, spec 5.1', says: 'In local mode the REST API wants no authentication.' },
  'modes.local-mode-alone': {
    from: 'decisions 1',
    says: 'platform.enabled: true does not make the REST API of local mode want authentication.',
  },
  'modes.local-with-oauth': {
    from: 'decisions 1',
    says: 'local_mode: true with platform.oauth.enabled: true is a config error.',
  },
  'modes.never-open': {
    from: 'spec 1.6, spec 5.1',
    says: 'With local_mode: false the service never serves a REST request without authentication.',
  },
  'modes.platform-keys-only': {
    from: 'decisions 1',
    says: 'local_mode: false with platform.enabled: false accepts API keys and nothing else.',
  },
  'testing.set-up': {
    from: 'decisions 1',
    says: 'What `npm test` lacks is installed or named with the command that installs it, never skipped in silence.',
  },
  'testing.real-postgres': { from: 'decisions 1', says: '`npm test` runs against a real PostgreSQL.' },
  'testing.real-browser': { from: 'decisions 1', says: '`npm test` runs a real browser.' },
} as const satisfies Rules
