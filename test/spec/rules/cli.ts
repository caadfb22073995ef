import type { Rules } from './rule.ts'

/** The command agenthost. */
export const cliRules = {
  'cli.serve': { from: 'decisions 9, decisions 12', says: '`agenthost serve` starts the service.' },
  'cli.config': {
    from: 'decisions 1, decisions 12',
    says: '`agenthost config` prints the resolved values, secrets masked, and where each came from.',
  },
  'cli.config-json': { from: 'decisions 12', says: '`agenthost config --json` prints JSON.' },
  'cli.exit-0-1': { from: 'decisions 12', says: 'Exit code 0 means done, 1 failure.' },
  'cli.exit-2': { from: 'decisions 12', says: 'Exit code 2 means wrong usage or config.' },
  'cli.exit-3-folder': { from: 'decisions 12', says: 'Exit code 3 means that the folder is in use.' },
  'cli.exit-3': { from: 'decisions 12', says: 'Exit code 3 also means not found or conflict.' },
  'cli.exit-4': { from: 'decisions 12', says: 'Exit code 4 means that authentication is needed.' },
  'cli.exit-5': { from: 'decisions 12', says: 'Exit code 5 means that the run ended as error.' },
  'cli.exit-6': {
    from: 'decisions 12',
    says: 'Exit code 6 means that a program older than its data refused to start.',
  },
  'cli.exit-124': { from: 'decisions 12', says: 'Exit code 124 means that the wait timed out.' },
  'cli.api-url': {
    from: 'decisions 12',
    says: 'Commands talk to SVC_API_URL or `--api`, by default http://localhost:8585.',
  },
  'cli.api-key': { from: 'decisions 12', says: 'Commands send SVC_API_KEY.' },
  'cli.json-lists': { from: 'decisions 12', says: 'With `--json` lists print a JSON array and records an object.' },
  'cli.run-wait': { from: 'decisions 12', says: '`agenthost run <agent> <task> --wait --json` prints the run record.' },
} as const satisfies Rules
