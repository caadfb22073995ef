// Names of tools: never the same twice, whatever servers call theirs.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { nameTools } from '../../src/store/tools/tool-name.ts'

const piece = fc.constantFrom('a', 'b', '__', 'c', 'notify', 'ü', 'x'.repeat(40))
const word = fc.array(piece, { minLength: 1, maxLength: 4 }).map((pieces) => pieces.join(''))
const tools = fc.uniqueArray(fc.record({ server: word, own_name: word }), {
  selector: ({ server, own_name }) => JSON.stringify([server, own_name]),
  maxLength: 30,
})

test('names of any tools are different, safe and short', () => {
  fc.assert(
    fc.property(tools, (list) => {
      const names = nameTools(list)
      expect(new Set(names).size).toBe(list.length)
      for (const name of names) expect(name).toMatch(/^[A-Za-z0-9_-]{1,64}$/)
    }),
    { numRuns: 2000 },
  )
})

test('the order of the tools does not matter', () => {
  fc.assert(
    fc.property(tools, (list) => {
      expect(nameTools([...list].reverse()).reverse()).toEqual(nameTools(list))
    }),
  )
})

test('a tool that calls itself what another one would get takes nothing from it', () => {
  const odd = { server: 'one', own_name: 'get weather' }
  const [before = ''] = nameTools([odd])
  expect(nameTools([odd, { server: 'thief', own_name: before }])).toEqual([before, `thief__${before}`])
})
