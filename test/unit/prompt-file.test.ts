// How a prompt file is read, what an edit leaves alone, and what it answers to input made to break it.
import { describe, expect, test } from 'vitest'
import { editPromptFile } from '../../src/catalog/prompt-file/edit.ts'
import { readPromptFile } from '../../src/catalog/prompt-file/read.ts'
import { HEADER_LIMIT, MAX_PROMPT_FILE_BYTES, PromptFileError } from '../../src/catalog/prompt-file/text.ts'

const FILE = `---
# who it is
model: "gpt-5"   # cheap
tools: [a,  b] # two

# told at the end
notify:   true
x-team: 'ops'
variables:
  # the place
  city: Berlin # for now
  tone: { description: "How", default: dry, kind: 7 }
  count: 1.50
  free:
description: >
  folded
  text

# the end
---

Hello {{city}}
`

const withHeader = (header: string) => `---\n${header}\n---\n`
const settingsOf = (header: string) => readPromptFile(withHeader(header)).settings

function errorOf(text: string): PromptFileError {
  try {
    readPromptFile(text)
  } catch (error) {
    if (error instanceof PromptFileError) return error
    throw error
  }
  throw new Error('no error')
}

describe('reading', () => {
  test('settings, prompt and unknown keys', () => {
    expect(readPromptFile(FILE)).toEqual({
      settings: {
        model: 'gpt-5',
        tools: ['a', 'b'],
        notify: true,
        variables: {
          city: { default: 'Berlin' },
          tone: { description: 'How', default: 'dry' },
          count: { default: '1.50' },
          free: {},
        },
        description: 'folded text\n',
      },
      prompt: 'Hello {{city}}',
      promptLine: 22,
      unknownKeys: ['x-team'],
    })
  })

  test('every other key', () => {
    const header = 'name: "Mia"\nenabled: false\nmax_steps: 5\ntimeout_seconds: 60\nmax_concurrency: 2'
    const settings = { name: 'Mia', enabled: false, max_steps: 5, timeout_seconds: 60, max_concurrency: 2 }
    expect(settingsOf(header)).toEqual(settings)
  })

  test('null leaves the default', () => {
    expect(settingsOf('model:\ntools: null\nmax_concurrency: ~\nvariables:\n  a: {default: null}')).toEqual({
      variables: { a: {} },
    })
  })

  test('without front matter the text is the prompt', () => {
    const file = { settings: {}, promptLine: 1, unknownKeys: [] }
    expect(readPromptFile('\nHi\n---\nmodel: x\n---\n')).toEqual({ ...file, prompt: '\nHi\n---\nmodel: x\n---' })
    expect(readPromptFile('----\nHi')).toEqual({ ...file, prompt: '----\nHi' })
    expect(readPromptFile('')).toEqual({ ...file, prompt: '' })
  })

  test.each([
    ['---\n---\n', ''],
    ['---\n---', ''],
    ['---  \n# only a comment\n---\t\nHi', 'Hi'],
    ['---\n---\n\n\n Hi \n\n', '\n Hi \n'],
    ['---\n---\nHi\n---\nmore\n', 'Hi\n---\nmore'],
    ['\uFEFF---\r\nmodel: x\r\n---\r\n\r\nHi\r\nyou 👋\r\n', 'Hi\nyou 👋'],
  ])('the prompt of %j', (text, prompt) => {
    expect(readPromptFile(text).prompt).toBe(prompt)
  })

  test('an alias stands for its value', () => {
    expect(settingsOf('x: &m gpt\nmodel: *m\ntools: [*m]')).toEqual({ model: 'gpt', tools: ['gpt'] })
  })

  test('names of prototypes are names', () => {
    const { settings } = readPromptFile(withHeader('__proto__: {model: x}\nvariables:\n  __proto__: p\n  toString: t'))
    expect(Object.keys(settings)).toEqual(['variables'])
    expect(Object.entries(settings.variables ?? {})).toEqual([
      ['__proto__', { default: 'p' }],
      ['toString', { default: 't' }],
    ])
  })
})

describe('errors', () => {
  test.each([
    ['---js\nmodule.exports = 1\n---\n', 1, 'always YAML'],
    ['--- yaml\nmodel: x\n---\n', 1, 'always YAML'],
    ['---\nmodel: x\n', 1, 'not closed'],
    ['---', 1, 'not closed'],
    ['---\na: [1\n---\n', 3, 'not plain YAML'],
    ['---\n- a\n---\n', 2, 'key: value'],
    ['---\njust text\n---\n', 2, 'key: value'],
    ['---\na: 1\nb: !env HOME\n---\n', 3, '!env'],
    ['---\nb: !!js/function "return 1"\n---\n', 2, 'js/function'],
    ['---\nb: !!binary aGk=\n---\n', 2, 'binary'],
    ['---\na: &a {model: x}\n<<: *a\n---\n', 3, 'merge'],
    ['---\nmodel: a\nnotify: true\nmodel: b\n---\n', 4, '"model" is there twice'],
    ['---\nx: {a: 1, a: 2}\n---\n', 2, '"a" is there twice'],
    ['---\n? [a]\n: 1\n---\n', 2, 'not plain YAML'],
    ['---\nmodel: *none\n---\n', 2, 'no anchor'],
    ['---\na: 1\n...\nb: 2\n---\n', 3, 'remove'],
    ['---\nmodel: 4\n---\n', 2, '`model` must be text'],
    ['---\nname: [a]\n---\n', 2, '`name` must be text'],
    ['---\nnotify: yes\n---\n', 2, '`notify` must be true or false'],
    ['---\ntools: search\n---\n', 2, '`tools` must be a list'],
    ['---\ntools:\n  - a\n  - 1\n---\n', 4, '`tools` must hold only text'],
    ['---\nmax_steps: 0\n---\n', 2, '`max_steps` must be a whole number'],
    ['---\ntimeout_seconds: 1.5\n---\n', 2, '`timeout_seconds` must be a whole number'],
    ['---\nmax_concurrency: "2"\n---\n', 2, '`max_concurrency` must be a whole number'],
    ['---\nvariables: [a]\n---\n', 2, '`variables` must be'],
    ['---\nvariables:\n  a-b: x\n---\n', 3, '`variables.a-b` is not a variable name'],
    ['---\nvariables:\n  task: x\n---\n', 3, '`variables.task` is the task'],
    ['---\nvariables:\n  a: [x]\n---\n', 3, '`variables.a` must be'],
    ['---\nvariables:\n  a:\n    default: {b: 1}\n---\n', 4, '`variables.a.default` must be text'],
  ])('%j', (text, line, message) => {
    const error = errorOf(text)
    expect(error.message).toContain(message)
    expect(error.line).toBe(line)
  })

  const bomb =
    'a: &a [x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b]\nd: [*c,*c,*c]'
  const keys = Array.from({ length: 9000 }, (_, index) => `${index.toString(36)}:`)

  test.each([
    ['an alias bomb', bomb, 'aliases'],
    ['deep lists', `a: ${'['.repeat(30_000)}${']'.repeat(30_000)}`, 'too deeply'],
    ['deep blocks', '- '.repeat(30_000), 'too deeply'],
    ['5 MB', 'x'.repeat(5_000_000), 'larger than 512 KiB'],
    ['a long header', `a: ${'x'.repeat(HEADER_LIMIT)}`, '64 KiB'],
    ['thousands of keys, one twice', [...keys, 'a:'].join('\n'), 'twice'],
  ])('%s', (_what, header, message) => {
    const started = performance.now()
    expect(errorOf(withHeader(header)).message).toContain(message)
    expect(performance.now() - started).toBeLessThan(10_000)
  })

  test('the size limit counts bytes', () => {
    expect(readPromptFile('x'.repeat(MAX_PROMPT_FILE_BYTES)).prompt).toHaveLength(MAX_PROMPT_FILE_BYTES)
    expect(() => readPromptFile('ä'.repeat(MAX_PROMPT_FILE_BYTES / 2 + 1))).toThrow(PromptFileError)
    expect(() => editPromptFile('x', { prompt: 'x'.repeat(MAX_PROMPT_FILE_BYTES) })).toThrow(PromptFileError)
  })
})

describe('editing', () => {
  const swap = (from: string, to: string) => FILE.replace(from, () => to)

  test('nothing to change: the same bytes', () => {
    const { settings, prompt } = readPromptFile(FILE)
    expect(editPromptFile(FILE, { ...settings, prompt, name: undefined, enabled: null })).toBe(FILE)
  })

  test.each([
    ['a value keeps its quotes and comment', { model: 'x' }, '"gpt-5"   # cheap', '"x" # cheap'],
    ['a list keeps its style', { tools: ['b', 'c'] }, '[a,  b] # two', '[b, c] # two'],
    ['a removed key leaves its comment', { tools: null }, 'tools: [a,  b] # two', '# two'],
    ['a removed key goes with its line', { notify: undefined }, 'notify:   true\n', ''],
    ['an added key comes last', { max_steps: 3 }, '# the end\n', '# the end\nmax_steps: 3\n'],
    ['text of many lines', { description: 'a\n---\nb' }, '>\n  folded\n  text', '|-\n  a\n  ---\n  b'],
    ['the prompt alone', { prompt: 'Bye\n\n{{x}} 👋' }, 'Hello {{city}}', 'Bye\n\n{{x}} 👋'],
  ])('%s', (_what, change, from, to) => {
    expect(editPromptFile(FILE, change)).toBe(swap(from, to))
  })

  test('variables change one by one', () => {
    const variables = {
      city: { description: 'Where', default: 'Paris' },
      tone: { default: 'dry' },
      count: { default: '2' },
    }
    const edited = editPromptFile(FILE, { variables: { ...variables, more: {}, last: { default: 'z' } } })
    expect(edited).toContain(
      '  # the place\n  city:\n    description: Where\n    default: Paris\n    # for now\n' +
        '  tone: { default: dry, kind: 7 }\n  count: "2"\n  more: null\n  last: z\ndescription: >',
    )
  })

  test.each([
    ['Hi', { model: 'm' }, '---\nmodel: m\n---\nHi'],
    ['\nHi', { model: 'm' }, '---\nmodel: m\n---\n\n\nHi'],
    ['Hi', { model: null }, 'Hi'],
    ['Hi', { model: '\u2028---\n' }, '---\nmodel: "\u2028---\\n"\n---\nHi'],
    ['Hi', { prompt: 'Bye' }, 'Bye\n'],
    ['Hi', { prompt: '---\nBye' }, '---\n---\n---\nBye\n'],
    ['---\nmodel: a\n---', { prompt: 'Hi' }, '---\nmodel: a\n---\nHi\n'],
    ['---\n---\nHi', { tools: [], notify: false }, '---\ntools: []\nnotify: false\n---\nHi'],
    ['---\n{model: a, x: 1} # c\n---\nHi', { notify: true, model: null }, '---\n{x: 1, notify: true} # c\n---\nHi'],
    ['---\n  model: a\n  x: 1\n---\n', { model: 'b' }, '---\nmodel: b\nx: 1\n---\n'],
    ['---\ntools:\n- a # one\n- b\n---\n', { tools: ['b', 'c'] }, '---\n# one\ntools:\n- b\n- c\n---\n'],
    [
      '\uFEFF---\r\nmodel: a\r\n---\r\n\r\nHi\r\n',
      { name: 'n' },
      '\uFEFF---\r\nmodel: a\r\nname: n\r\n---\r\n\r\nHi\r\n',
    ],
    ['---\r\nx: 1\r\n---\r\nHi', { prompt: 'a\nb\r\nc' }, '---\r\nx: 1\r\n---\r\na\r\nb\r\nc\r\n'],
  ])('%j with %j', (text, change, edited) => {
    expect(editPromptFile(text, change)).toBe(edited)
  })

  test('a key with an anchor is left to the author, the others are not', () => {
    const text = '---\nmodel: &m a\nx: *m\n---\n'
    expect(() => editPromptFile(text, { model: 'b' })).toThrow('Line 2: this key uses a YAML anchor')
    expect(editPromptFile(text, { notify: true })).toBe('---\nmodel: &m a\nx: *m\nnotify: true\n---\n')
  })

  test('a value that could not be read back is refused', () => {
    expect(() => editPromptFile(FILE, { max_steps: -1 })).toThrow('`max_steps` must be a whole number')
    expect(() => editPromptFile(FILE, { variables: { 'a b': {} } })).toThrow('not a variable name')
  })
})
