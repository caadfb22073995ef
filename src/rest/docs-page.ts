/** The API for people, drawn from the OpenAPI document. Plain HTML: no script, and no request to anywhere else. */
import { createHash } from 'node:crypto'
import type { ApiDocument, Operation, Parameter, Schema } from './api-document.ts'

const STYLE = `
:root { color-scheme: light dark; --ink: #1c2430; --soft: #5b6675; --line: #e3e7ec; --card: #fff; --ground: #f6f7f9; --accent: #2457c5; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6eaf0; --soft: #9aa6b5; --line: #2a323d; --card: #171c23; --ground: #101419; --accent: #8ab0ff; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--ground); color: var(--ink); font: 16px/1.55 system-ui, sans-serif; }
main { max-width: 60rem; margin: 0 auto; padding: 2.5rem 1.25rem 4rem; }
h1 { margin: 0; font-size: 1.9rem; letter-spacing: -0.02em; }
h2 { margin: 2.5rem 0 0.75rem; font-size: 1.15rem; }
p { margin: 0.4rem 0; color: var(--soft); }
a { color: var(--accent); }
code { font: 0.86em/1.5 ui-monospace, SFMono-Regular, Menlo, monospace; }
details { margin: 0.5rem 0; border: 1px solid var(--line); border-radius: 10px; background: var(--card); }
summary { display: flex; flex-wrap: wrap; gap: 0.35rem 0.8rem; align-items: baseline; padding: 0.7rem 1rem; cursor: pointer; }
summary::before { content: '▸'; color: var(--soft); }
details[open] > summary::before { content: '▾'; }
summary span:last-child { color: var(--soft); margin-left: auto; }
summary code { overflow-wrap: anywhere; }
.method { min-width: 4.2rem; padding: 0.1rem 0; border-radius: 6px; text-align: center; font: 600 0.75rem/1.7 ui-monospace, monospace; background: var(--ground); color: var(--accent); }
.body { scroll-margin-top: 5rem; padding: 0 1rem 1rem; border-top: 1px solid var(--line); }
h3 { margin: 1rem 0 0.3rem; font-size: 0.85rem; color: var(--soft); font-weight: 600; }
table { width: 100%; border-collapse: collapse; }
td { padding: 0.35rem 0.8rem 0.35rem 0; border-top: 1px solid var(--line); vertical-align: top; }
tr:first-child td { border-top: 0; }
td:first-child { white-space: nowrap; width: 1%; }
td:not(:first-child) { overflow-wrap: anywhere; }
@media (max-width: 40rem) { summary span:last-child { margin-left: 0; width: 100%; } td:first-child { white-space: normal; overflow-wrap: anywhere; width: auto; } }
`

const styleHash = createHash('sha256').update(STYLE).digest('base64')
export const DOCS_POLICY = `default-src 'none'; style-src 'sha256-${styleHash}'; frame-ancestors 'none'; base-uri 'none'`

export function docsPage(document: ApiDocument): string {
  const { title, version, description } = document.info
  return `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>${text(title)} API</title><style>${STYLE}</style></head>
<body><main>
<h1>${text(title)} API</h1>
<p>${text(description)} Version ${text(version)}. For programs: <a href="/api/v1/openapi.json">openapi.json</a>.</p>
<p>Every answer is <code>{success, data, error}</code>; lists add <code>pagination</code> and take <code>page</code> and <code>limit</code>.</p>
${document.tags.map(({ name }) => section(name, document)).join('\n')}
<h2>Records</h2>
${Object.entries(document.components.schemas).map(record).join('\n')}
</main></body></html>
`
}

function section(tag: string, { paths }: ApiDocument): string {
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
  )
  const ofTag = operations.filter(({ operation }) => operation.tags.includes(tag))
  return `<h2>${text(tag)}</h2>\n${ofTag.map(endpoint).join('\n')}`
}

function endpoint({ path, method, operation }: { path: string; method: string; operation: Operation }): string {
  const body = operation.requestBody?.content['application/json']?.schema
  const answers = Object.entries(operation.responses).map(([status, { description }]) => [status, description])
  return `<details><summary><span class="method">${text(method.toUpperCase())}</span>
<code>${text(path)}</code><span>${text(operation.summary)}</span></summary><div class="body" id="${text(operation.operationId)}">
<h3>Scope (platform mode)</h3><code>${text(operation['x-scope'])}</code>
${operation.parameters ? `<h3>Parameters</h3>${table(operation.parameters.map(parameter))}` : ''}
${body ? `<h3>Body${operation.requestBody?.required ? '' : ' (optional)'}</h3>${recordLink(typeName(body))}` : ''}
<h3>Answers</h3>${table(answers as [string, string][])}
</div></details>`
}

const parameter = ({ name, in: place, description = '', schema }: Parameter): [string, string, string] => [
  name,
  `${typeName(schema)} in ${place}`,
  `${description}${schema.default === undefined ? '' : ` Default ${JSON.stringify(schema.default)}.`}`,
]

function record([name, schema]: [string, Schema]): string {
  const fields = Object.entries(schema.properties ?? {}).map(([field, of]): [string, string, string] => [
    schema.required?.includes(field) ? field : `${field}?`,
    typeName(of),
    of.description ?? '',
  ])
  return `<details><summary><code>${text(name)}</code><span>${text(schema.description ?? '')}</span></summary>
<div class="body" id="${text(name)}">${table(fields)}</div></details>`
}

/** The first column is code, the rest is prose. */
const table = (rows: readonly (readonly string[])[]) =>
  `<table>${rows
    .map(([first = '', ...rest]) => `<tr><td><code>${text(first)}</code></td>${rest.map(cell).join('')}</tr>`)
    .join('')}</table>`

const recordLink = (name: string) => `<a href="#${text(name)}"><code>${text(name)}</code></a>`

const cell = (value: string) => `<td>${text(value)}</td>`

function typeName({ $ref, type, enum: values, items, anyOf }: Schema): string {
  if ($ref) return $ref.slice($ref.lastIndexOf('/') + 1)
  if (values) return values.map((value) => JSON.stringify(value)).join(' | ')
  if (anyOf) return anyOf.map(typeName).join(' | ')
  if (items) return `list of ${typeName(items)}`
  return [type ?? 'any'].flat().join(' | ')
}

const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }
const text = (value: string) => value.replaceAll(/[&<>"']/g, (character) => ENTITIES[character] ?? character)
