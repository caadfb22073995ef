/** Owns prompts as templates: parsing once, then rendering to messages with values that are never read again. */
import { parseNodes, type Role, type TemplateNode } from './nodes.ts'
import { TemplateError } from './source.ts'
import { findNames, isTaskName, type TemplateName, usesTask } from './variables.ts'

/** Characters of all messages of one rendering together. */
export const RENDER_LIMIT = 4 * 1024 * 1024

interface Message {
  role: Role
  content: string
}

export interface Template {
  /** The variables the prompt uses, in order of first use; the task is not one of them. */
  readonly names: readonly TemplateName[]
  /** Throws `TemplateError` when the values make the prompt longer than `RENDER_LIMIT`. */
  render(values: Readonly<Record<string, string>>, task: string): Message[]
}

interface Part {
  role: Role
  nodes: TemplateNode[]
}

/** Throws `TemplateError` when the source is not a template. */
export function parseTemplate(source: string): Template {
  const nodes = parseNodes(source)
  const parts = splitRoles(nodes)
  const placesTask = parts.length > 1 && usesTask(nodes)
  return {
    names: findNames(nodes),
    render(values, task) {
      const rendering = new Rendering(source, values, task)
      const messages = parts.map(({ role, nodes: part }) => ({ role, content: rendering.render(part) }))
      return withTask(messages.filter(isNotBlank), task, placesTask)
    },
  }
}

/** One part per role marker, after what stands before the first; a single part when there is no marker. */
function splitRoles(nodes: TemplateNode[]): Part[] {
  let part: Part = { role: 'system', nodes: [] }
  const parts = [part]
  for (const node of nodes) {
    if (node.kind === 'role') {
      part = { role: node.role, nodes: [] }
      parts.push(part)
    } else part.nodes.push(node)
  }
  return parts.length > 1 ? parts.map(trimPart) : parts
}

// The space around a marker is layout; only the template's own text is trimmed, never raw text or a value.
function trimPart({ role, nodes }: Part): Part {
  const last = nodes.length - 1
  const trimmed = nodes.map((node, index) => {
    if (node.kind !== 'text' || node.raw) return node
    const text = index === 0 ? node.text.trimStart() : node.text
    return { ...node, text: index === last ? text.trimEnd() : text }
  })
  return { role, nodes: trimmed }
}

function isNotBlank(message: Message): boolean {
  return message.content.trim() !== ''
}

// A model needs something to answer: the task is left out only where the prompt itself puts it before the user.
function withTask(messages: Message[], task: string, placesTask: boolean): Message[] {
  const asksUser = messages.some((message) => message.role === 'user')
  return placesTask && asksUser ? messages : [...messages, { role: 'user', content: task }]
}

class Rendering {
  readonly #source: string
  readonly #values: Readonly<Record<string, string>>
  readonly #task: string
  #length = 0

  constructor(source: string, values: Readonly<Record<string, string>>, task: string) {
    this.#source = source
    this.#values = values
    this.#task = task
  }

  render(nodes: readonly TemplateNode[]): string {
    return nodes.map((node) => this.#renderNode(node)).join('')
  }

  #renderNode(node: TemplateNode): string {
    switch (node.kind) {
      case 'text':
        return node.text
      case 'value':
        return this.#spend(this.#valueOf(node.name), node.offset)
      case 'section':
        return (this.#valueOf(node.name) !== '') === node.inverted ? '' : this.render(node.children)
      case 'role':
        return ''
    }
  }

  #valueOf(name: string): string {
    if (isTaskName(name)) return this.#task
    return Object.hasOwn(this.#values, name) ? (this.#values[name] ?? '') : ''
  }

  #spend(value: string, offset: number): string {
    this.#length += value.length
    if (this.#length <= RENDER_LIMIT) return value
    const problem = `the values make the prompt longer than ${RENDER_LIMIT} characters; shorten them`
    throw new TemplateError(problem, this.#source, offset)
  }
}
