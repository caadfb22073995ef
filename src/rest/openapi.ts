/** The OpenAPI 3.1 document, made from the routes and the schemas that validate them. */
import { z } from 'zod'
import { ERROR_STATUS, type ErrorCode } from '../contract/errors.ts'
import type { ApiDocument, Content, Operation, Parameter, Schema } from './api-document.ts'
import { failure, success } from './envelope.ts'
import type { Route } from './route.ts'

/** What any route can answer, whatever it does. */
const ALWAYS: readonly ErrorCode[] = ['FORBIDDEN', 'INTERNAL_ERROR', 'STORAGE_UNAVAILABLE']
const WITH_BODY: readonly ErrorCode[] = ['INVALID_REQUEST', 'UNSUPPORTED_MEDIA_TYPE', 'PAYLOAD_TOO_LARGE']

interface Schemas {
  /** The schema in place, or a reference when it has a name of its own. */
  of(schema: z.ZodType, io: 'input' | 'output'): Schema
  named: Record<string, Schema>
}

export interface Describe {
  version: string
  prefix: string
  server: string
}

export function describeApi(routes: readonly Route[], { version, prefix, server }: Describe): ApiDocument {
  const schemas = collectSchemas()
  const paths: ApiDocument['paths'] = {}
  for (const route of routes) {
    const path = prefix + route.path.replaceAll(/:(\w+)/g, '{$1}')
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: operation(route, schemas) }
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Agenthost',
      version,
      description: 'Hosts AI agents and runs them so that no accepted run is ever lost.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: server }],
    tags: [...new Set(routes.map(({ tag }) => tag))].map((name) => ({ name })),
    paths,
    components: {
      schemas: schemas.named,
      securitySchemes: {
        bearer: { type: 'http', scheme: 'bearer', description: 'Platform mode: an access token or an API key.' },
        apiKey: { type: 'apiKey', in: 'header', name: 'X-API-Key', description: 'Platform mode: an API key.' },
      },
    },
  }
}

function operation(route: Route, schemas: Schemas): Operation {
  const parameters = [
    ...inPlace(route.params, 'path', schemas),
    ...inPlace(route.query, 'query', schemas),
    ...inPlace(route.headers, 'header', schemas),
  ]
  return {
    operationId: route.name,
    summary: route.summary,
    tags: [route.tag],
    // Local mode asks for nothing, so an empty requirement is always one of the choices.
    security: route.scope === 'public' ? [] : [{}, { bearer: [] }, { apiKey: [] }],
    'x-scope': route.scope,
    ...(parameters.length > 0 ? { parameters } : {}),
    ...(route.body ? { requestBody: requestBody(route, route.body, schemas) } : {}),
    responses: responses(route, schemas),
  }
}

function inPlace(group: z.ZodObject | undefined, place: Parameter['in'], schemas: Schemas): Parameter[] {
  return Object.entries(group?.shape ?? {}).map(([name, schema]) => {
    const { description, ...rest } = schemas.of(schema as z.ZodType, 'input')
    return { name, in: place, required: place === 'path', ...(description ? { description } : {}), schema: rest }
  })
}

const requestBody = (route: Route, body: z.ZodType, schemas: Schemas) => ({
  required: !route.bodyOptional,
  content: json(schemas.of(body, 'input')),
})

function responses(route: Route, schemas: Schemas): Operation['responses'] {
  const answers: Operation['responses'] = {}
  for (const { status, answers: schema } of [route, ...(route.orElse ? [route.orElse] : [])]) {
    const body = route.bare || route.streams ? schema : success(schema, route.list ?? false)
    const described = schemas.of(body, 'output')
    const content: Content = route.streams ? { 'text/event-stream': { schema: described } } : json(described)
    answers[status] = { description: answered(route, schema), content }
  }
  const codes = [
    ...ALWAYS,
    ...(route.params || route.query || route.headers ? WITH_BODY.slice(0, 1) : []),
    ...(route.body ? WITH_BODY : []),
  ]
  const byStatus = Map.groupBy(new Set([...codes, ...route.errors]), (code) => ERROR_STATUS[code])
  for (const [status, codesOfStatus] of [...byStatus].sort(([one], [other]) => one - other)) {
    answers[status] = { description: codesOfStatus.join(', '), content: json(schemas.of(failure, 'output')) }
  }
  return answers
}

/** In one word what `data` holds. */
function answered({ list, streams }: Route, schema: z.ZodType): string {
  const name = schema.meta()?.id ?? (streams ? 'Server-sent events' : 'Done')
  return list ? `List of ${name}` : name
}

const json = (schema: Schema): Content => ({ 'application/json': { schema } })

/** Schemas with an id become components once; everything else stands where it is used. */
function collectSchemas(): Schemas {
  const named: Record<string, Schema> = {}
  return {
    named,
    of(schema, io) {
      const {
        $schema: _,
        $defs = {},
        ...rest
      } = z.toJSONSchema(schema, {
        ...{ io, reused: 'inline', target: 'draft-2020-12' },
        override({ jsonSchema }) {
          // Answers may grow fields, and clients made from this document have to bear it.
          if (io === 'output' && jsonSchema.additionalProperties === false) delete jsonSchema.additionalProperties
        },
      })
      for (const [name, definition] of Object.entries($defs)) named[name] = relinked(definition)
      const id = schema.meta()?.id
      if (!id) return relinked(rest)
      // A schema that mentions itself by name comes back as a reference, its definition among the others.
      if (!rest.$ref) named[id] = relinked(rest)
      return { $ref: `#/components/schemas/${id}` }
    },
  }
}

/** Named definitions move from `$defs` of each schema to the components of the document. */
const relinked = (schema: object): Schema =>
  JSON.parse(
    JSON.stringify(schema, (key, value) => {
      if (key === 'id' && typeof value === 'string') return undefined
      if (key === '$ref' && typeof value === 'string') return value.replace('#/$defs/', '#/components/schemas/')
      return value
    }),
  )
