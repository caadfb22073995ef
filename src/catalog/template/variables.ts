/** Owns which variables a prompt has: the names it uses, what is known about them, and the values of one run. */
import type { Variable } from '../../contract/agent.ts'
import type { TemplateNode } from './nodes.ts'

export interface TemplateName {
  name: string
  /** Used as plain `{{name}}` outside every section of that name. */
  required: boolean
}

/** What a prompt file says about a variable. */
export interface VariableSettings {
  description?: string
  default?: string
}

/** `{{task}}` and `{{userInput}}` are the task of the run: no caller gives them as variables. */
export function isTaskName(name: string): boolean {
  return name === 'task' || name === 'userInput'
}

/** The variables of a prompt with what is declared about them; a default makes a variable optional. */
export function describeVariables(
  template: { readonly names: readonly TemplateName[] },
  declared: Readonly<Record<string, VariableSettings>>,
): Variable[] {
  return template.names.map(({ name, required }) => {
    const settings = Object.hasOwn(declared, name) ? declared[name] : undefined
    const fallback = settings?.default ?? null
    return {
      name,
      required: required && fallback === null,
      default: fallback,
      description: settings?.description ?? null,
    }
  })
}

/** The values of a run: the given ones, extra ones too, over the defaults. `missing` names the required ones. */
export function resolveValues(
  variables: readonly Variable[],
  given: Readonly<Record<string, string>>,
): { values: Record<string, string>; missing: string[] } {
  const defaults = variables.flatMap((variable) =>
    variable.default === null ? [] : [[variable.name, variable.default]],
  )
  // Not an assignment per name: that would not set `__proto__`.
  const values: Record<string, string> = Object.fromEntries([...defaults, ...Object.entries(given)])
  const missing = variables.filter(({ name, required }) => required && !Object.hasOwn(values, name))
  return { values, missing: missing.map(({ name }) => name) }
}

export function findNames(nodes: readonly TemplateNode[]): TemplateName[] {
  const required = new Map<string, boolean>()
  const note = (name: string, plain: boolean): void => {
    if (!isTaskName(name)) required.set(name, plain || (required.get(name) ?? false))
  }
  const walk = (node: TemplateNode, sections: readonly string[]): void => {
    if (node.kind === 'value') note(node.name, !sections.includes(node.name))
    if (node.kind !== 'section') return
    note(node.name, false)
    for (const child of node.children) walk(child, [...sections, node.name])
  }
  for (const node of nodes) walk(node, [])
  return [...required].map(([name, isRequired]) => ({ name, required: isRequired }))
}

/** Whether the task is put anywhere into the prompt. */
export function usesTask(nodes: readonly TemplateNode[]): boolean {
  return nodes.some((node) => {
    if (node.kind === 'section') return usesTask(node.children)
    return node.kind === 'value' && isTaskName(node.name)
  })
}
