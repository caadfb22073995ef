// Every rule of the spec is proven by a test or openly pending, and what is pending only gets less.
import { execFileSync } from 'node:child_process'
import { globSync, readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { PENDING } from './pending.ts'
import { RULES } from './rules.ts'

const PENDING_FILE = 'test/spec/pending.ts'
const CALL = /\bproves\(\s*(?:\[([^\]]*)\]|(['"][^'"]*['"]))/g
const QUOTED = /'([^'\n]*)'|"([^"\n]*)"/g

const quoted = (text: string) => [...text.matchAll(QUOTED)].map((match) => match[1] ?? match[2] ?? '')
const withoutCommentedLines = (text: string) => text.replace(/^\s*\/\/.*$/gm, '')

function citedIn(source: string): string[] {
  const calls = withoutCommentedLines(source).matchAll(CALL)
  return [...calls].flatMap((call) => quoted(call[1] ?? call[2] ?? ''))
}

/** Empty where git knows nothing: a fresh folder, an archive, a clone without history. */
function git(...args: string[]): string {
  try {
    const command = ['-c', 'safe.directory=*', ...args]
    return execFileSync('git', command, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] })
  } catch {
    return ''
  }
}

/** The last two: once a change is committed, the last version is the working tree itself. */
function committedPendingFiles(): string[] {
  const commits = git('log', '--max-count=2', '--diff-filter=AM', '--format=%H', '--', PENDING_FILE)
  return commits
    .split('\n')
    .filter(Boolean)
    .map((commit) => git('show', `${commit}:${PENDING_FILE}`))
}

const rules = new Set<string>(Object.keys(RULES))
const pending: string[] = Object.values(PENDING).flat()
const cited = new Set(globSync('test/**/*.test.ts').flatMap((path) => citedIn(readFileSync(path, 'utf8'))))

describe('the rules of the spec', () => {
  test('every rule is proven by a test or pending', () => {
    expect([...rules].filter((id) => !cited.has(id) && !pending.includes(id))).toEqual([])
  })

  test('no rule is both proven and pending', () => {
    expect(pending.filter((id) => cited.has(id))).toEqual([])
  })

  test('no rule is pending twice', () => {
    expect(pending.filter((id, position) => pending.indexOf(id) !== position)).toEqual([])
  })

  test('every cited or pending rule exists', () => {
    expect([...cited, ...pending].filter((id) => !rules.has(id))).toEqual([])
  })

  test('the pending list only shrinks', () => {
    const versions = committedPendingFiles()
    const isCommitted = git('ls-tree', '--name-only', 'HEAD', '--', PENDING_FILE) !== ''
    expect(versions.length > 0, 'the committed versions are found').toBe(isCommitted)
    for (const committed of versions) {
      const known = new Set(quoted(committed))
      expect(pending.filter((id) => !known.has(id))).toEqual([])
    }
  })
})

describe('the scan of the sources', () => {
  // Spelled apart, so that the scan of this file does not take the sample for a citation.
  const call = ['proves', '('].join('')

  test('a single id, a list over several lines and double quotes are seen', () => {
    expect(citedIn(`${call}'a.1', 'title', fn)\n${call}[\n  'b.1',\n  "b.2",\n], 'title', fn)`)).toEqual([
      'a.1',
      'b.1',
      'b.2',
    ])
  })

  test('a call in a comment proves nothing', () => {
    expect(citedIn(`// ${call}'a.1', 'title', fn)\n  // ${call}'a.2', 'title', fn)`)).toEqual([])
  })
})
