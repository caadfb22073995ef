// What a prompt may hold, how it renders, and what it answers to input made to break it.
import { describe, expect, test } from 'vitest'
import { TEMPLATE_LIMIT, TemplateError } from '../../src/catalog/template/source.ts'
import { parseTemplate, RENDER_LIMIT } from '../../src/catalog/template/template.ts'
import { describeVariables, resolveValues } from '../../src/catalog/template/variables.ts'

const system = (source: string, values: Record<string, string> = {}) =>
  parseTemplate(source).render(values, 'the task')[0]?.content

const names = (source: string) =>
  parseTemplate(source).names.map(({ name, required }) => (required ? name : `${name}?`))

function errorOf(source: string): TemplateError {
  try {
    parseTemplate(source)
  } catch (error) {
    if (error instanceof TemplateError) return error
    throw error
  }
  throw new Error(`no error: ${source}`)
}

describe('variables', () => {
  test.each(['{{name}}', '{{ name }}', '{{{name}}}', '{{& name }}', '{{\nname\n}}'])('%j inserts the value', (tag) => {
    expect(system(`[${tag}]`, { name: '<b> & "q"' })).toBe('[<b> & "q"]')
  })

  test('a value that is not given is empty', () => {
    expect(system('[{{name}}]')).toBe('[]')
  })

  test.each(['{{b}}', '{{{b}}}', '{{#b}}x{{/b}}', '{{{{raw}}}}', '}}', '{{! c }}', '${b}', '$&', '{{role "user"}}'])(
    'the value %j stays as it is',
    (value) => {
      expect(system('{{a}}{{b}}', { a: value, b: 'B' })).toBe(`${value}B`)
    },
  )

  test.each(['constructor', 'length', '__proto__', 'toString', 'hasOwnProperty', 'prototype'])(
    '%s is a name like any other',
    (name) => {
      expect(system(`[{{${name}}}]{{#${name}}}x{{/${name}}}`)).toBe('[]')
      expect(system(`[{{${name}}}]`, JSON.parse(`{"${name}":"mine"}`))).toBe('[mine]')
      expect(names(`{{${name}}}`)).toEqual([name])
    },
  )

  test('comments leave nothing, and their line goes with them', () => {
    expect(system('a\n  {{! {{note}\n more }}  \nb{{!}}c')).toBe('a\nbc')
  })

  test('emoji and single braces are text', () => {
    expect(system('👩‍🚀 {x} {"a":{"b":1}} {{e}}', { e: '🎉' })).toBe('👩‍🚀 {x} {"a":{"b":1}} 🎉')
  })
})

describe('sections', () => {
  test('a section shows when the variable is given and not empty', () => {
    const source = 'x{{#a}}[{{a}}]{{/a}}{{^a}}none{{/a}}'
    expect(system(source, { a: 'A' })).toBe('x[A]')
    expect(system(source, { a: '' })).toBe('xnone')
    expect(system(source)).toBe('xnone')
  })

  test('a line with only a section tag leaves no line', () => {
    expect(system('one\r\n{{#a}}\r\ntwo\r\n{{/a}}\r\nthree', { a: '1' })).toBe('one\r\ntwo\r\nthree')
  })

  test('nesting up to 32 works, deeper is an error', () => {
    const nested = (depth: number) => `${'{{#a}}'.repeat(depth)}x${'{{/a}}'.repeat(depth)}`
    expect(system(nested(32), { a: '1' })).toBe('x')
    expect(errorOf(nested(33)).message).toContain('32')
  })
})

describe('raw text', () => {
  test.each([
    ['{{{{raw}}}}{{name}} {{#x}}{{{{/raw}}}}', '{{name}} {{#x}}'],
    ['{ {{{{{raw}}}}a{{{{/raw}}}}}', '{ {a}'],
    ['{{{{raw}}}}{{{{{/raw}}}}', '{'],
    ['{{{{raw}}}}{{{{raw}}}}{{{{/raw}}}}', '{{{{raw}}}}'],
    ['a\n{{{{raw}}}}\n{{{{/raw}}}}\nb{{{{raw}}}}{{{{/raw}}}}', 'a\n\n\nb'],
    ['{{#a}}\n{{{{raw}}}} {{a}} {{{{/raw}}}}\n{{/a}}{{{{raw}}}}}}{{{{/raw}}}}', ' {{a}} \n}}'],
    ['{{! {{{{raw }}{{a}}', 'A'],
  ])('%j', (source, rendered) => {
    expect(system(source, { a: 'A' })).toBe(rendered)
  })
})

describe('roles', () => {
  const render = (source: string, values = {}) =>
    parseTemplate(source)
      .render(values, 'T')
      .map(({ role, content }) => `${role}: ${content}`)

  test('without markers the prompt is the system message and the task the user message', () => {
    expect(render(' Be kind.\n{{task}}')).toEqual(['system:  Be kind.\nT', 'user: T'])
  })

  test('markers make messages, and the space around them is layout', () => {
    const source = `Intro\n{{role "system"}}\nBe kind.\n\n{{ role 'user' }}\nDo {{task}}\n`
    expect(render(source)).toEqual(['system: Intro', 'system: Be kind.', 'user: Do T'])
  })

  test('the task comes last when the prompt does not use it', () => {
    expect(render('{{role "user"}}Hi{{role "system"}}Be kind.')).toEqual(['user: Hi', 'system: Be kind.', 'user: T'])
  })

  test('userInput is the task, and it is not repeated', () => {
    expect(render('{{role "user"}}{{#a}}x{{/a}}{{userInput}}')).toEqual(['user: T'])
  })

  test('blank messages are dropped, and the task takes the place of the only user message', () => {
    expect(render('{{role "system"}}Be kind.{{role "user"}}{{#a}}{{task}}{{/a}}')).toEqual([
      'system: Be kind.',
      'user: T',
    ])
    expect(render('')).toEqual(['user: T'])
  })

  test('values and raw text next to a marker keep their space', () => {
    expect(render('{{role "user"}}{{a}}{{{{raw}}}} {{{{/raw}}}}', { a: ' \n' })).toEqual(['user: T'])
    expect(render('{{role "user"}} {{task}}{{{{raw}}}}! {{{{/raw}}}}\n{{role "system"}}')).toEqual(['user: T! '])
  })

  test('role alone is a variable', () => {
    expect(names('{{role}}')).toEqual(['role'])
  })
})

describe('names', () => {
  test('they come in order of first use, required when used plainly outside a section of that name', () => {
    expect(names('{{#b}}{{b}}{{c}}{{/b}}{{^d}}{{d}}{{/d}}{{a}}{{c}}')).toEqual(['b?', 'c', 'd?', 'a'])
  })

  test('a later plain use makes a name required', () => {
    expect(names('{{#b}}{{b}}{{/b}}{{b}}')).toEqual(['b'])
  })

  test('the task is no variable', () => {
    expect(names('{{task}}{{#userInput}}{{userInput}}{{/userInput}}')).toEqual([])
  })

  test('the task given as a value does not replace the task', () => {
    expect(system('{{task}}{{userInput}}', { task: 'no', userInput: 'no' })).toBe('the taskthe task')
  })

  test('a default makes a variable optional, and undeclared names have none', () => {
    const declared = { a: { default: '', description: 'An a' }, unused: { default: 'x' } }
    expect(describeVariables(parseTemplate('{{a}}{{constructor}}{{#o}}x{{/o}}'), declared)).toEqual([
      { name: 'a', required: false, default: '', description: 'An a' },
      { name: 'constructor', required: true, default: null, description: null },
      { name: 'o', required: false, default: null, description: null },
    ])
  })

  test('values are the given ones over the defaults, and missing ones are named', () => {
    const template = parseTemplate('{{a}}{{b}}{{__proto__}}{{c}}')
    const variables = describeVariables(template, { a: { default: 'A' }, b: { default: 'B' } })
    expect(resolveValues(variables, { b: '', extra: 'E' })).toEqual({
      values: { a: 'A', b: '', extra: 'E' },
      missing: ['__proto__', 'c'],
    })
    const given = resolveValues(variables, JSON.parse('{"__proto__":"p","c":"C"}'))
    expect(given.missing).toEqual([])
    expect(template.render(given.values, '')[0]?.content).toBe('ABpC')
  })
})

describe('errors', () => {
  test.each([
    ['a\n {{b', 2, 2, 'not closed'],
    ['{{', 1, 1, 'not closed'],
    ['{{a.b}}', 1, 1, '"a.b" is not a variable name'],
    ['{{.}}', 1, 1, 'not a variable name'],
    ['{{}}', 1, 1, 'not a variable name'],
    ['{{a b}}', 1, 1, 'not a variable name'],
    ['{{1a}}', 1, 1, 'not a variable name'],
    ['{{ä}}', 1, 1, 'not a variable name'],
    [`{{${'a'.repeat(65)}}}`, 1, 1, 'not a variable name'],
    ['{{a|upper}}', 1, 1, 'not a variable name'],
    ['{{"a":1}}', 1, 1, '{{{{raw}}}}'],
    ['{{constructor.constructor("return 1")()}}', 1, 1, 'not a variable name'],
    ['{{#if a}}x{{/if}}', 1, 1, 'not a variable name'],
    ['a\nb {{#if x}}\nlong\n{{/if}} end', 2, 3, 'not a variable name'],
    ['{{#a.b}}{{/a.b}}', 1, 1, 'not a variable name'],
    ['x {{> partial}}', 1, 3, 'cannot include'],
    ['{{= <% %> =}}', 1, 1, 'delimiters'],
    ['{{#a}}\nx', 2, 2, 'section "a" is not closed'],
    ['{{/a}}', 1, 1, 'closes nothing'],
    ['{{#a}}{{#b}}{{/a}}{{/b}}', 1, 13, 'section "b" is not closed'],
    ['{{{a}}', 1, 1, '}}}'],
    ['{{{{x}}}}', 1, 1, 'not a variable name'],
    ['{{{{raw}}}} x', 1, 1, 'add {{{{/raw}}}}'],
    ['{{{{/raw}}}}', 1, 1, 'not a variable name'],
    ['{{{{{{raw}}}}a{{{{/raw}}}}', 1, 1, 'right before'],
    ['{{role "model"}}', 1, 1, '"system" or "user"'],
    ['{{role user}}', 1, 1, 'not a variable name'],
    [`{{role "user'}}`, 1, 1, 'not a variable name'],
    ['{{#a}}{{role "user"}}{{/a}}', 1, 7, 'inside a section'],
    ['{{&role "user"}}', 1, 1, 'not a variable name'],
  ])('%j', (source, line, column, message) => {
    const error = errorOf(source)
    expect(error).toMatchObject({ line, column })
    expect(error.message).toContain(message)
  })
})

describe('input made to hang or fill the memory', () => {
  const million = 1_000_000

  test.each([
    ['a tag of spaces', `{{ a${' '.repeat(million)}}}`],
    ['a comment of spaces', `{{! ${' '.repeat(million)}x}}`],
    ['a triple that closes late', `{{{a}}${' '.repeat(million)}}}}`],
    ['open braces', '{'.repeat(million)],
    ['open comments', '{{!'.repeat(million / 4)],
    ['open raw blocks', '{{{{raw}}}}'.repeat(million / 12)],
    ['open sections', '{{#a}}'.repeat(million / 8)],
    ['nested sections', '{{#a}}'.repeat(million / 16) + '{{/a}}'.repeat(million / 16)],
    ['tags', '{{a}}'.repeat(million / 5)],
    ['empty lines', ' \n'.repeat(million / 2)],
  ])('%s: an answer in good time', (_what, source) => {
    const started = performance.now()
    try {
      parseTemplate(source).render({ a: 'x' }, 'T')
    } catch (error) {
      expect(error).toBeInstanceOf(TemplateError)
    }
    expect(performance.now() - started).toBeLessThan(10_000)
  })

  test('5 MB is too long', () => {
    expect(errorOf('x'.repeat(5 * million)).message).toContain(String(TEMPLATE_LIMIT))
  })

  test('values that multiply beyond the limit are an error, not a crash', () => {
    const template = parseTemplate('{{a}}'.repeat(100_000))
    expect(() => template.render({ a: 'x'.repeat(65_536) }, '')).toThrow(String(RENDER_LIMIT))
  })
})
