// Holds the picture of the house: imports point down, each matter has one room. The checker is proven on tiny fake trees.
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path/posix'
import { describe, expect, test } from 'vitest'

/** From the roof to the ground. Neighbours of one floor never import each other. */
const FLOORS = [
  ['main'],
  ['cli'],
  ['app'],
  ['rest', 'webhook', 'mcp-server'],
  ['http'],
  ['auth'],
  ['runs'],
  ['catalog'],
  ['tools'],
  ['models', 'notify', 'deliveries', 'platform'],
  ['store'],
  ['telemetry'],
  ['clock', 'version', 'safe-files', 'unless-aborted'],
  ['config'],
  ['contract'],
]
const HTTP_ROOMS = ['rest', 'webhook', 'mcp-server', 'http']

type Tree = ReadonlyMap<string, string>
type Rule = (path: string, code: string, tree: Tree) => string[]

const IMPORT =
  /^\s*(?:import|export)\b[^'"`;]*?\bfrom\s*['"]([^'"]+)|\bimport\s*\(?\s*['"]([^'"]+)|new URL\(\s*['"](\.[^'"]+)/gm

/** Comments may name what code may not. Only those that start a line or follow a blank, so globs in strings stay. */
const withoutComments = (text: string) => text.replace(/^\s*\/\*[\s\S]*?\*\//gm, '').replace(/(^|\s)\/\/.*$/gm, '$1')
const imports = (code: string) => [...code.matchAll(IMPORT)].map((match) => match[1] ?? match[2] ?? match[3] ?? '')
const relative = (path: string, code: string) =>
  imports(code)
    .filter((name) => name.startsWith('.'))
    .map((name) => join(path, '..', name))
const room = (path: string) => path.split('/')[1]?.replace(/\.ts$/, '') ?? ''
const floor = (path: string) => FLOORS.findIndex((rooms) => rooms.includes(room(path)))
const foreign = (path: string, code: string, packages: RegExp) =>
  imports(code)
    .filter((name) => packages.test(name))
    .map((name) => `${path} imports ${name}`)
const mentions = (path: string, code: string, pattern: RegExp) =>
  pattern.test(code) ? [`${path} uses ${pattern.source}`] : []

function cycleThrough(start: string, tree: Tree): string[] {
  const from = new Map<string, string>()
  const queue = [start]
  for (const path of queue) {
    for (const next of relative(path, tree.get(path) ?? '')) {
      if (next === start) return [...trail(path, from), start]
      if (!from.has(next)) queue.push(next)
      from.set(next, from.get(next) ?? path)
    }
  }
  return []
}

function trail(path: string, from: ReadonlyMap<string, string>): string[] {
  const previous = from.get(path)
  return previous === undefined ? [path] : [...trail(previous, from), path]
}

const RULES: Record<string, Rule> = {
  'every file lives in a room of the house': (path) => (floor(path) < 0 ? [`${path} is in no layer`] : []),
  'imports point down, never up or sideways': (path, code) =>
    relative(path, code)
      .filter((target) => target.startsWith('src/') && room(target) !== room(path) && floor(target) <= floor(path))
      .map((target) => `${path} imports ${target}`),
  'no file imports itself on a detour': (path, _code, tree) => {
    const cycle = cycleThrough(path, tree)
    return cycle.length > 0 ? [cycle.join(' → ')] : []
  },
  'only config reads the environment': (path, code) =>
    room(path) === 'config' ? [] : mentions(path, code, /\bprocess\??\.env\b|\benv\b[^'"\n]*from 'node:process'/),
  'only store talks to databases': (path, code) =>
    room(path) === 'store' ? [] : foreign(path, code, /^(node:sqlite|kysely|pg)(\/|$)/),
  'only runs/dispatch-dbos.ts knows DBOS': (path, code) =>
    path === 'src/runs/dispatch-dbos.ts' ? [] : foreign(path, code, /^@dbos-inc\//),
  'only the doors and http know HTTP types': (path, code) =>
    HTTP_ROOMS.includes(room(path)) ? [] : foreign(path, code, /^(hono|@hono\/.*|node:(http|https|http2))(\/|$)/),
  'contract imports only zod': (path, code) =>
    room(path) === 'contract' ? foreign(path, code, /^(?!\.|zod(\/|$))/) : [],
  'every name says what is inside': (path) =>
    /(^|\/)(index\.ts$|(utils?|helpers?|common|misc)(\.ts$|\/))/.test(path)
      ? [`${path} has a name that says nothing`]
      : [],
  'no file is longer than 400 lines': (path, _code, tree) => {
    const lines = tree.get(path)?.trimEnd().split('\n').length ?? 0
    return lines > 400 ? [`${path} has ${lines} lines`] : []
  },
  'nobody writes to the console': (path, code) => mentions(path, code, /\bconsole\./),
}

function violations(tree: Tree): Array<{ rule: string; message: string }> {
  const rules = Object.entries(RULES)
  return [...tree].flatMap(([path, text]) =>
    rules.flatMap(([rule, check]) => check(path, withoutComments(text), tree).map((message) => ({ rule, message }))),
  )
}

describe('the house', () => {
  const paths = globSync('src/**/*.ts').map((path) => path.replaceAll('\\', '/'))
  const found = violations(new Map(paths.map((path) => [path, readFileSync(path, 'utf8')])))

  test('there are files to look at', () => expect(paths).not.toEqual([]))
  test.each(Object.keys(RULES))('%s', (rule) => {
    expect(found.filter((violation) => violation.rule === rule).map(({ message }) => message)).toEqual([])
  })
})

describe('the checker', () => {
  const url = "new Worker(new URL('../rest/a.ts', import.meta.url))"
  test.each<[rule: string, path: string, text: string, message: string]>([
    ['every file lives in a room of the house', 'src/cellar/a.ts', '', 'src/cellar/a.ts is in no layer'],
    ['imports point down, never up or sideways', 'src/store/a.ts', "import { b } from '../rest/b.ts'", 'src/rest/b.ts'],
    ['imports point down, never up or sideways', 'src/store/a.ts', "import type { B } from '../app.ts'", 'src/app.ts'],
    [
      'imports point down, never up or sideways',
      'src/rest/a.ts',
      "import {\n  b,\n} from '../webhook/b.ts'",
      'src/webhook/b.ts',
    ],
    [
      'imports point down, never up or sideways',
      'src/models/a.ts',
      "await import('../notify/b.ts')",
      'src/notify/b.ts',
    ],
    [
      'imports point down, never up or sideways',
      'src/clock.ts',
      "export { b } from './telemetry/b.ts'",
      'src/telemetry/b.ts',
    ],
    ['imports point down, never up or sideways', 'src/http/a.ts', url, 'src/rest/a.ts'],
    ['only config reads the environment', 'src/app.ts', 'const { HOME } = process.env', 'src/app.ts uses'],
    ['only store talks to databases', 'src/runs/a.ts', "import { sql } from 'kysely'", 'src/runs/a.ts imports kysely'],
    ['only runs/dispatch-dbos.ts knows DBOS', 'src/runs/a.ts', "import '@dbos-inc/dbos-sdk'", '@dbos-inc/dbos-sdk'],
    ['only the doors and http know HTTP types', 'src/auth/a.ts', "import { Hono } from 'hono/tiny'", 'hono/tiny'],
    ['contract imports only zod', 'src/contract/a.ts', "import { join } from 'node:path'", 'imports node:path'],
    ['every name says what is inside', 'src/runs/helpers/a.ts', '', 'src/runs/helpers/a.ts'],
    ['every name says what is inside', 'src/runs/index.ts', '', 'src/runs/index.ts'],
    ['no file is longer than 400 lines', 'src/app.ts', 'a()\n'.repeat(401), 'src/app.ts has 401 lines'],
    ['nobody writes to the console', 'src/app.ts', "  console.log('x')", 'src/app.ts uses'],
  ])('breaking "%s" in %s is seen', (rule, path, text, message) => {
    const found = violations(new Map([[path, text]]))
    expect(found).toEqual([{ rule, message: expect.stringContaining(message) }])
  })

  test('a cycle is named from file to file', () => {
    const tree = new Map([
      ['src/runs/a.ts', "import './b.ts'"],
      ['src/runs/b.ts', "import './c.ts'"],
      ['src/runs/c.ts', "import './a.ts'"],
    ])
    const [first] = violations(tree)
    expect(first?.message).toBe('src/runs/a.ts → src/runs/b.ts → src/runs/c.ts → src/runs/a.ts')
  })

  test('what is allowed passes, and comments may name what code may not', () => {
    const tree = new Map([
      ['src/main.ts', "import { serve } from './cli/serve.ts'"],
      ['src/config/load.ts', '// console.log is not for us\nexport const home = process.env.HOME'],
      [
        'src/rest/server.ts',
        "import { Hono } from 'hono'\nimport type { Config } from '../config/load.ts'\napp.use('/*', guard)",
      ],
      ['src/store/sqlite/reader.ts', "import { Kysely } from 'kysely'\nimport { a } from '../store.ts'"],
      ['src/contract/agent.ts', "import { z } from 'zod'\nimport { a } from './run.ts'"],
    ])
    expect(violations(tree)).toEqual([])
  })
})
