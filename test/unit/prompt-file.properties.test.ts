// What holds for every sequence of edits of a prompt file, tried with generated ones.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { editPromptFile, type PromptFileChange } from '../../src/catalog/prompt-file/edit.ts'
import { type PromptSettings, readPromptFile, type SettingName } from '../../src/catalog/prompt-file/read.ts'
import { PromptFileError } from '../../src/catalog/prompt-file/text.ts'

const awkward = fc.constantFrom(
  ...[
    '---',
    '- a',
    '# no',
    'yes',
    'null',
    '1',
    '{{a}}',
    'a: b',
    '"',
    "'",
    '\n',
    '\n\n',
    ' \n ',
    '',
    '👍',
    '&a',
    '*a',
    '\t',
  ],
  ...[
    '\r',
    '\r\n',
    '\uFEFF',
    '\u2028',
    '\u0000',
    '\u0085',
    '!tag',
    '%x',
    '...',
    '|',
    '>',
    'x'.repeat(200),
    'long words ',
  ],
)
const text = fc.oneof(
  fc.array(awkward, { maxLength: 4 }).map((parts) => parts.join('')),
  fc.string({ unit: 'binary', maxLength: 20 }),
)
const count = fc.integer({ min: 1, max: 1e6 })
const removed = fc.constantFrom(null, undefined)
const variableName = fc.oneof(
  fc.constantFrom('__proto__', 'constructor', 'city', 'null', 'true', 'tone', 'y'),
  fc.stringMatching(/^[A-Za-z_]\w{0,9}$/).filter((name) => name !== 'task' && name !== 'userInput'),
)
const variable = fc.record({ description: text, default: text }, { requiredKeys: [] })
const variables = fc.array(fc.tuple(variableName, variable), { maxLength: 4 }).map((pairs) => Object.fromEntries(pairs))

const change: fc.Arbitrary<PromptFileChange> = fc.record(
  {
    name: fc.oneof(text, removed),
    description: fc.oneof(text, removed),
    model: fc.oneof(text, removed),
    tools: fc.oneof(fc.array(text, { maxLength: 4 }), removed),
    notify: fc.oneof(fc.boolean(), removed),
    enabled: fc.oneof(fc.boolean(), removed),
    max_steps: fc.oneof(count, removed),
    timeout_seconds: fc.oneof(count, removed),
    max_concurrency: fc.oneof(count, removed),
    variables: fc.oneof(variables, removed),
    prompt: text,
  },
  { requiredKeys: [] },
)

const COMMENTS = [
  '# c-top',
  '# c-model',
  '# c-tools',
  '# c-item',
  '# c-vars',
  '# c-city',
  '# c-tone',
  '# c-end',
  '# c-last',
]
const UNKNOWN = [
  "x-quoted: 'it''s'   # c-quoted",
  'x-map: {a:   [1,2], b: "z"}',
  'x-text: |+\n  raw {{x}}\n\n',
  'x-last: >-\n  a\n  b',
]
const [quoted, map, block, folded] = UNKNOWN
const FULL = `---
# c-top
model: "gpt"   # c-model
${quoted}
tools: # c-tools
  - a # c-item
  - b
${map}
variables:
  # c-vars
  city: Berlin # c-city
  tone: { description: x, kind: 3 } # c-tone
${block}
description: |
  two
  lines
notify: true
# c-end

${folded}
# c-last
---

Hello
`
const files = fc.constantFrom(FULL, FULL.replaceAll('\n', '\r\n'), `\uFEFF${FULL}`, '', 'Hi', '---\n---', '\n\nHi\n\n')

const newlines = (value: string) => value.replace(/\r\n?/g, '\n')

function expected(text: string, edit: PromptFileChange) {
  const { settings, prompt } = readPromptFile(text)
  const wanted: PromptSettings = { ...settings }
  for (const key of Object.keys(edit) as (SettingName | 'prompt')[]) if (key !== 'prompt') delete wanted[key]
  const { prompt: given, ...rest } = edit
  const set = Object.entries(rest).filter(([, value]) => value !== null && value !== undefined)
  return { settings: { ...wanted, ...Object.fromEntries(set) }, prompt: given === undefined ? prompt : newlines(given) }
}

test('an edit reads back as what was set, and everything else as it was', () => {
  fc.assert(
    fc.property(files, fc.array(change, { maxLength: 4 }), (file, changes) => {
      let current = file
      for (const edit of changes) {
        const wanted = expected(current, edit)
        current = editPromptFile(current, edit)
        expect(readPromptFile(current)).toMatchObject(wanted)
        expect(Object.keys(readPromptFile(current).settings).sort()).toEqual(Object.keys(wanted.settings).sort())
      }
    }),
    { numRuns: 150 },
  )
})

test('comments and unknown keys survive any sequence of edits', () => {
  fc.assert(
    fc.property(fc.array(change, { minLength: 1, maxLength: 5 }), (changes) => {
      const edited = changes.reduce(editPromptFile, FULL)
      for (const part of [...COMMENTS, ...UNKNOWN]) expect(edited).toContain(part)
    }),
    { numRuns: 150 },
  )
})

test('setting what is there changes no byte', () => {
  fc.assert(
    fc.property(files, change, (file, edit) => {
      const edited = editPromptFile(file, edit)
      const { settings, prompt } = readPromptFile(edited)
      expect(editPromptFile(edited, {})).toBe(edited)
      expect(editPromptFile(edited, { ...settings, prompt })).toBe(edited)
      expect(editPromptFile(edited, edit)).toBe(edited)
    }),
  )
})

test('a change of the prompt leaves the header alone, a change of settings the body', () => {
  fc.assert(
    fc.property(change, (edit) => {
      const { prompt = '', ...settings } = edit
      expect(editPromptFile(FULL, { prompt }).startsWith(FULL.slice(0, FULL.lastIndexOf('---')))).toBe(true)
      expect(editPromptFile(FULL, settings).endsWith('\n---\n\nHello\n')).toBe(true)
    }),
  )
})

test('any text is a prompt file or a PromptFileError', () => {
  const line = fc.oneof(
    awkward,
    fc.constantFrom('---', 'model: x', 'a: &a', 'b: *a', '  - c', 'tools:', 'variables:', '  v: 1'),
  )
  fc.assert(
    fc.property(fc.array(line, { maxLength: 12 }), change, (lines, edit) => {
      const file = ['---', ...lines, '---', 'Hi'].join('\n')
      try {
        readPromptFile(editPromptFile(file, edit))
      } catch (error) {
        expect(error).toBeInstanceOf(PromptFileError)
      }
    }),
    { numRuns: 500 },
  )
})
