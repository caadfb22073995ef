// Arguments that fit the schema of a tool, as plain as they can be.
import type { Json } from '../../src/contract/tool.ts'

type Schema = Record<string, unknown>

export function fittingArguments(schema: Schema): { [key: string]: Json } {
  const properties = Object.entries((schema.properties ?? {}) as Record<string, Schema>)
  return Object.fromEntries(properties.map(([name, property]) => [name, fittingValue(property)]))
}

function fittingValue(schema: Schema): Json {
  const [first] = (schema.enum ?? []) as Json[]
  if (first !== undefined) return first
  const [type] = [schema.type].flat()
  if (type === 'object') return fittingArguments(schema)
  if (type === 'array') return []
  if (type === 'number' || type === 'integer') return 1
  return type === 'boolean' ? true : 'text'
}
