// JSON in which nothing means two things: told apart from JSON.parse by objects whose fields are written by hand.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { AppError } from '../../src/contract/errors.ts'
import { parseStrictly } from '../../src/http/strict-json.ts'

/** A JSON text, what it means, and whether some object in it has a field twice. */
interface Written {
  text: string
  value: unknown
  twice: boolean
}

const space = fc.constantFrom('', ' ', '\n\t', '  ')
const awkward = fc.constantFrom(
  '',
  ':',
  '"',
  '\\',
  '\\"',
  '\\\\',
  '{"a":1}',
  'a:b',
  '//',
  'é',
  '😀',
  '\n',
  'constructor',
)
const plainText = fc
  .oneof(awkward, fc.string({ unit: 'grapheme', maxLength: 8 }))
  .filter((text) => !text.includes('\0') && text !== '__proto__')

const unit = (text: string, at: number) => `\\u${text.charCodeAt(at).toString(16).padStart(4, '0')}`

/** The same text in another spelling, every character escaped. */
const escaped = (text: string) => `"${Array.from({ length: text.length }, (_, at) => unit(text, at)).join('')}"`

const quoted = fc.tuple(plainText, fc.boolean()).map(([value, strange]): Written & { value: string } => ({
  ...{ value, twice: false },
  text: strange ? escaped(value) : JSON.stringify(value),
}))

const numbers: Written[] = [
  { text: '0', value: 0, twice: false },
  { text: '-1.5e3', value: -1500, twice: false },
  { text: '1e-400', value: 0, twice: false },
  { text: 'true', value: true, twice: false },
  { text: 'null', value: null, twice: false },
]

function list(items: Written[], gap: string): Written {
  return {
    text: `[${gap}${items.map(({ text }) => text).join(`${gap},${gap}`)}${gap}]`,
    value: items.map(({ value }) => value),
    twice: items.some(({ twice }) => twice),
  }
}

function object(fields: [key: Written & { value: string }, of: Written][], gap: string): Written {
  return {
    text: `{${gap}${fields.map(([key, of]) => `${key.text}${gap}:${gap}${of.text}`).join(`${gap},${gap}`)}${gap}}`,
    value: Object.fromEntries(fields.map(([key, of]) => [key.value, of.value])),
    twice: fields.some(([, of]) => of.twice) || new Set(fields.map(([key]) => key.value)).size < fields.length,
  }
}

const { value } = fc.letrec<{ value: Written }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    quoted,
    fc.constantFrom(...numbers),
    fc.tuple(fc.array(tie('value'), { maxLength: 4 }), space).map(([items, gap]) => list(items, gap)),
    fc
      .tuple(fc.array(fc.tuple(quoted, tie('value')), { maxLength: 5 }), space)
      .map(([fields, gap]) => object(fields, gap)),
  ),
}))

const refusalOf = (text: string): string => {
  try {
    parseStrictly(text)
    return 'none'
  } catch (error) {
    expect(error).toBeInstanceOf(AppError)
    return (error as AppError).message
  }
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

describe('strict JSON', () => {
  test('means what is written when no field is there twice, and is refused when one is', () => {
    fc.assert(
      fc.property(value, ({ text, value: meant, twice }) => {
        if (twice) expect(refusalOf(text)).toMatch(/is there twice/)
        else expect(parseStrictly(text)).toEqual(meant)
      }),
      { numRuns: 2000 },
    )
  })

  // https://github.com/nodejs/node/issues/63785
  test('is not misread after another text with a backslash for a name', () => {
    for (let round = 0; round < 3; round++) {
      parseStrictly('{"h":[],"\\\\":0}')
      expect(parseStrictly('{"h":1,"\\"":2}')).toEqual({ h: 1, '"': 2 })
      expect(parseStrictly('{"h":1,"\\n":2}')).toEqual({ h: 1, '\n': 2 })
    }
  })

  test('takes nothing that JSON.parse does not take', () => {
    fc.assert(
      fc.property(value, fc.nat(), fc.constantFrom('', ',', '"', '}', ':', '\\'), ({ text }, place, put) => {
        const at = place % (text.length + 1)
        const broken = text.slice(0, at) + put + text.slice(at + 1)
        if (!isJson(broken)) expect(refusalOf(broken)).toMatch(/not valid/)
      }),
      { numRuns: 2000 },
    )
  })

  test.for<[text: string, problem: RegExp]>([
    ['', /empty/],
    ['{"a":1,"a":1}', /'a' is there twice/],
    ['{"a":{"b":1,"b":2}}', /'b' is there twice/],
    ['{"a":1,"\\u0061":2}', /'a' is there twice/],
    ['{"__proto__":{}}', /__proto__/],
    ['[{"__proto__":1}]', /__proto__/],
    ['"\\u0000"', /NUL/],
    ['"\\ud800"', /surrogate/],
    ['{"\\ud800":1}', /cannot be stored/],
    ['1e999', /too large/],
    ['[-1e999]', /too large/],
    ['{"a":1,}', /not valid JSON \(line 1, column 8/],
    ['// hello\n1', /not valid JSON/],
    ['NaN', /not valid JSON/],
    ['\ufeff{}', /not valid JSON/],
    [`${'['.repeat(65)}${']'.repeat(65)}`, /deeper than 64/],
    ['['.repeat(500_000), /deeper than 64|not valid/],
  ])('refuses %.30s', ([text, problem]) => {
    expect(refusalOf(text)).toMatch(problem)
  })

  test('takes 64 levels, whatever they are made of', () => {
    const lists = `${'['.repeat(64)}${']'.repeat(64)}`
    const objects = `${'{"a":'.repeat(63)}{}${'}'.repeat(63)}`
    expect(parseStrictly(lists)).toEqual(JSON.parse(lists))
    expect(parseStrictly(objects)).toEqual(JSON.parse(objects))
  })
})
