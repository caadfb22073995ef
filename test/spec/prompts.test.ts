// The rules about prompts and prompt files that hold without a server; the examples of docs/prompts.md among them.
import { readFileSync } from 'node:fs'
import { expect } from 'vitest'
import { readPromptFile } from '../../src/catalog/prompt-file/read.ts'
import { MAX_PROMPT_FILE_BYTES, PromptFileError } from '../../src/catalog/prompt-file/text.ts'
import { TemplateError } from '../../src/catalog/template/source.ts'
import { parseTemplate } from '../../src/catalog/template/template.ts'
import { describeVariables } from '../../src/catalog/template/variables.ts'
import { proves } from './proves.ts'

const TASK = 'Explain rain'

const render = (source: string, values: Record<string, string> = {}) => parseTemplate(source).render(values, TASK)
const system = (source: string, values: Record<string, string> = {}) => render(source, values)[0]?.content
const settingsOf = (header: string) => readPromptFile(`---\n${header}\n---\nHi`).settings

function examples(kind: string): string[] {
  const text = readFileSync(new URL('../../docs/prompts.md', import.meta.url), 'utf8')
  return [...text.matchAll(/```(\w+)\n([\s\S]*?)```/g)].flatMap(([, found, body = '']) =>
    found === kind ? [body] : [],
  )
}

const shown = (source: string, values: Record<string, string>) =>
  render(source, values)
    .map(({ role, content }) => `${role}: ${content.trimEnd()}\n`)
    .join('')

proves('prompts.plain', 'a name is replaced by its variable', () => {
  expect(system('Hello {{name}}, {{ name }}', { name: 'Mia' })).toBe('Hello Mia, Mia')
})

proves('prompts.section', 'a section is kept with a value, an inverted one without', () => {
  const source = '{{#name}}Hello {{name}}{{/name}}{{^name}}Hello you{{/name}}'
  expect(system(source, { name: 'Mia' })).toBe('Hello Mia')
  expect(system(source, { name: '' })).toBe('Hello you')
  expect(system(source)).toBe('Hello you')
})

proves('prompts.no-code', 'code, partials and other delimiters are errors of the template', () => {
  const sources = [
    '{{constructor.constructor("return 1")()}}',
    '{{a.b}}',
    '{{> x}}',
    '{{= <% %> =}}',
    '{{#each a}}{{/each}}',
  ]
  for (const source of sources) expect(() => parseTemplate(source)).toThrow(TemplateError)
  expect(system('{{constructor}}{{__proto__}}x')).toBe('x')
})

proves('prompts.no-escaping', 'a value keeps its HTML', () => {
  expect(system('{{a}}', { a: `<b>&"'/` })).toBe(`<b>&"'/`)
})

proves('prompts.inserted-once', 'a value that looks like a template stays text', () => {
  const value = '{{b}}{{#b}}x{{/b}}{{role "user"}}${b}'
  expect(render('{{a}}{{b}}', { a: value, b: 'B' })[0]).toEqual({ role: 'system', content: `${value}B` })
})

proves('prompts.task', 'task and userInput are the task and no variables', () => {
  const template = parseTemplate('{{task}} / {{userInput}}')
  expect(template.render({ task: 'x', userInput: 'y' }, TASK)[0]?.content).toBe('Explain rain / Explain rain')
  expect(template.names).toEqual([])
})

proves('prompts.literal', 'raw text keeps its braces, as the manual says', () => {
  expect(system('{{{{raw}}}}{{name}}{{{{/raw}}}}', { name: 'no' })).toBe('{{name}}')
  expect(shown(examples('prompt')[0] ?? '', { audience: 'children' })).toBe(examples('messages')[0])
})

proves('prompts.required', 'required is a plain name outside a section of that name and without a default', () => {
  const template = parseTemplate('{{a}}{{b}}{{#c}}{{c}}{{/c}}{{^d}}{{d}}{{/d}}{{#e}}{{/e}}{{e}}')
  const variables = describeVariables(template, { b: { default: '' } })
  expect(variables.filter(({ required }) => required).map(({ name }) => name)).toEqual(['a', 'e'])
})

proves('prompts.messages', 'without markers there is a system message and the task', () => {
  expect(render('Be kind.')).toEqual([
    { role: 'system', content: 'Be kind.' },
    { role: 'user', content: TASK },
  ])
})

proves('prompts.role-markers', 'markers split the prompt into messages, as the manual says', () => {
  expect(shown(examples('prompt')[1] ?? '', { audience: 'children' })).toBe(examples('messages')[1])
  expect(() => parseTemplate('{{role "model"}}')).toThrow(TemplateError)
})

proves('files.spec-keys', 'model is text, notify a boolean, tools a list of names', () => {
  const settings = { model: 'gpt-5', notify: true, tools: ['a', 'b'] }
  expect(settingsOf('model: gpt-5\nnotify: true\ntools: [a, b]')).toEqual(settings)
  for (const wrong of ['model: 5', 'notify: "true"', 'tools: a'])
    expect(() => settingsOf(wrong)).toThrow(PromptFileError)
})

proves('files.more-keys', 'the other keys are read, as the manual shows', () => {
  const header =
    'name: n\ndescription: d\nenabled: false\nmax_steps: 1\ntimeout_seconds: 2\nmax_concurrency: 3\nvariables: {}'
  const numbers = { max_steps: 1, timeout_seconds: 2, max_concurrency: 3 }
  expect(settingsOf(header)).toEqual({ name: 'n', description: 'd', enabled: false, ...numbers, variables: {} })
  expect(readPromptFile(examples('file')[0] ?? '')).toMatchObject({
    settings: {
      model: 'gpt-5-mini',
      tools: ['search', 'read_file'],
      notify: true,
      max_steps: 20,
      timeout_seconds: 600,
    },
    prompt: 'Tell {{audience}} about {{city}}. Be {{tone}}.',
    unknownKeys: ['x-owner'],
  })
})

proves('files.variables-key', 'variables maps a name to description and default', () => {
  const { settings, prompt } = readPromptFile(examples('file')[0] ?? '')
  expect(describeVariables(parseTemplate(prompt), settings.variables ?? {})).toEqual([
    { name: 'audience', required: true, default: null, description: null },
    { name: 'city', required: false, default: 'Berlin', description: 'The place to look at' },
    { name: 'tone', required: false, default: 'friendly', description: null },
  ])
})

proves('files.yaml-only', 'tags, merge keys, other languages and broken YAML are errors with a line', () => {
  for (const header of ['a: !env HOME', 'a: !!js/function x', 'a: &a {b: 1}\n<<: *a', 'a: [', 'a: 1\na: 2']) {
    expect(() => settingsOf(header)).toThrow(/^Line \d+: /)
  }
  expect(() => readPromptFile('---js\n1\n---\n')).toThrow(PromptFileError)
})

proves('files.size-limit', 'a file over 512 KiB is an error', () => {
  expect(readPromptFile('x'.repeat(MAX_PROMPT_FILE_BYTES)).prompt).toHaveLength(512 * 1024)
  expect(() => readPromptFile('x'.repeat(MAX_PROMPT_FILE_BYTES + 1))).toThrow(PromptFileError)
})
