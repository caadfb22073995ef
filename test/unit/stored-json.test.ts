// What was written is read back, whatever its field names look like.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { readJson } from '../../src/store/json.ts'

test('any value is read back as it was written', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const text = JSON.stringify(value)
      expect(readJson(text)).toEqual(JSON.parse(text))
    }),
    { numRuns: 1000 },
  )
})

test('a field called __proto__ is a field like any other, also beside a name with an escape', () => {
  const text = '{"":{"__proto__":{"a":[1,null,"x"]}},"\\"":0}'
  expect(JSON.stringify(readJson(text))).toBe(text)
  expect(Object.getPrototypeOf(readJson(text)['']).a).toBeUndefined()
})

test('field names with escapes are told apart, in whatever order they come', () => {
  const name = fc.constantFrom('\\', '"', '\n', '\t', 'a', '\\\\', '":', '\u0001')
  const texts = fc.array(fc.dictionary(name, fc.integer(), { noNullPrototype: true }), { minLength: 2 })
  fc.assert(
    fc.property(texts, (values) => {
      for (const value of values) expect(readJson(JSON.stringify(value))).toEqual(value)
    }),
    { numRuns: 1000 },
  )
})
