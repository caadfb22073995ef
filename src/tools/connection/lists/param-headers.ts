/**
 * Over HTTP, the modern era lets a tool ask for copies of its arguments in headers (`x-mcp-header`). A client has to
 * leave out a tool that asks in a way that is not allowed. The SDK does it too, but tells the console.
 */
import { isJsonObject, type Json } from '../../../contract/tool.ts'
import { HEADER_NAME } from '../../servers/http-target.ts'

const KEY = 'x-mcp-header'
const TYPES: readonly unknown[] = ['string', 'integer', 'boolean']
/** Keywords with a schema or a list of schemas in them. */
const SCHEMAS = [
  ...['items', 'prefixItems', 'contains', 'additionalProperties', 'unevaluatedProperties', 'unevaluatedItems'],
  ...['propertyNames', 'oneOf', 'anyOf', 'allOf', 'not', 'if', 'then', 'else'],
]
/** Keywords with named schemas in them. */
const NAMED_SCHEMAS = ['patternProperties', 'dependentSchemas', '$defs', 'definitions']

/** Whether every header that the schema asks for may be asked for. */
export const hasValidHeaders = (schema: Json): boolean =>
  isValid(schema, { isReachable: true, isRoot: true }, new Set())

interface Place {
  /** Its value can be found by names alone: it is no item of a list and no alternative. */
  isReachable: boolean
  isRoot: boolean
}

function isValid(schema: Json, place: Place, names: Set<string>): boolean {
  if (!isJsonObject(schema)) return true
  if (KEY in schema && !(place.isReachable && !place.isRoot && isAllowed(schema, names))) return false
  const below = (at: Json | undefined, isReachable: boolean) =>
    at === undefined || isValid(at, { isReachable, isRoot: false }, names)
  const all = (at: Json | undefined, isReachable: boolean) =>
    typeof at !== 'object' || at === null || Object.values(at).every((one) => below(one, isReachable))
  return (
    all(schema.properties, place.isReachable) &&
    NAMED_SCHEMAS.every((keyword) => all(schema[keyword], false)) &&
    SCHEMAS.every((keyword) => (Array.isArray(schema[keyword]) ? all : below)(schema[keyword], false))
  )
}

function isAllowed({ [KEY]: name, type }: { [key: string]: Json }, names: Set<string>): boolean {
  if (typeof name !== 'string' || !HEADER_NAME.test(name) || !TYPES.includes(type)) return false
  const isNew = !names.has(name.toLowerCase())
  names.add(name.toLowerCase())
  return isNew
}
