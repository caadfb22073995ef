// What holds for every prompt and every value, tried with generated ones.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { TemplateError } from '../../src/catalog/template/source.ts'
import { parseTemplate } from '../../src/catalog/template/template.ts'

const system = (source: string, values: Record<string, string> = {}) => {
  const [first] = parseTemplate(source).render(values, '')
  return first?.role === 'system' ? first.content : ''
}

const fragment = fc.constantFrom(
  ...['{', '}', '{{', '}}', '{{{', '}}}', '{{{{raw}}}}', '{{{{/raw}}}}', '{{#a}}', '{{/a}}', '{{^a}}', '{{a}}', '{{!'],
  ...[
    '{{b}}',
    '{{#b}}',
    '{{/b}}',
    '{{>',
    '{{=',
    '=}}',
    '{{&',
    '{{role "user"}}',
    '{{task}}',
    'a',
    ' ',
    '\n',
    '.',
    '"',
    '👍',
  ],
)
const braces = fc.array(fragment, { maxLength: 30 }).map((parts) => parts.join(''))
const value = fc.oneof(fc.string({ unit: 'binary' }), braces)
const text = fc.string({ unit: 'grapheme' }).map((source) => source.replaceAll('{', '<'))
const name = fc.oneof(
  fc.stringMatching(/^[A-Za-z_]\w{0,63}$/),
  fc.constantFrom('__proto__', 'constructor', 'length', 'valueOf', 'role', 'raw'),
)
const notTask = name.filter((given) => given !== 'task' && given !== 'userInput')
const blankAsEmpty = (content: string) => (content.trim() === '' ? '' : content)

test('a value is inserted once and verbatim', () => {
  fc.assert(
    fc.property(text, notTask, value, text, (before, given, inserted, after) => {
      const rendered = system(`${before}{{${given}}}${after}`, Object.fromEntries([[given, inserted]]))
      expect(rendered).toBe(blankAsEmpty(before + inserted + after))
    }),
  )
})

test('a section shows its text exactly when the value is not empty', () => {
  fc.assert(
    fc.property(notTask, value, (given, inserted) => {
      const source = `[{{#${given}}}+{{/${given}}}{{^${given}}}-{{/${given}}}]`
      expect(system(source, Object.fromEntries([[given, inserted]]))).toBe(inserted === '' ? '[-]' : '[+]')
    }),
  )
})

test('text without a tag renders to itself', () => {
  fc.assert(
    fc.property(fc.oneof(fc.string({ unit: 'binary' }), braces), (source) => {
      fc.pre(!source.includes('{{'))
      expect(system(source)).toBe(blankAsEmpty(source))
    }),
  )
})

test('raw text is verbatim, outside and inside sections', () => {
  fc.assert(
    fc.property(value, (raw) => {
      fc.pre(!`${raw}{{{{/raw}}}}`.slice(0, -1).includes('{{{{/raw}}}}'))
      const block = `{{{{raw}}}}${raw}{{{{/raw}}}}`
      expect(system(`<${block}>{{#a}}${block}{{/a}}.`, { a: '1' })).toBe(`<${raw}>${raw}.`)
    }),
  )
})

test('any string is a template or a TemplateError that points into it', () => {
  fc.assert(
    fc.property(braces, value, (source, inserted) => {
      try {
        const template = parseTemplate(source)
        const messages = template.render({ a: inserted }, 'T')
        expect(messages.some(({ role }) => role === 'user')).toBe(true)
        expect(template.names.every((entry) => /^[ab]+$/.test(entry.name))).toBe(true)
      } catch (error) {
        if (!(error instanceof TemplateError)) throw error
        const lines = source.split('\n')
        expect(error.line).toBeLessThanOrEqual(lines.length)
        expect(error.column).toBeLessThanOrEqual((lines[error.line - 1]?.length ?? 0) + 1)
      }
    }),
    { numRuns: 2000 },
  )
})
