// Lists of tools that mean harm, as the JSON that a server sends for the page at a cursor.

const schemaOf = (bytes: number) => ({ type: 'object', description: 'x'.repeat(bytes) })
const tool = (name: string, rest: object = {}) => ({ name, inputSchema: { type: 'object' }, ...rest })

const MANY = 1_000
const A_PAGE = 90
export const LARGE_BYTES = 100 * 1024

/** The variable of a hostile server that it was given in confidence. */
const secret = () => process.env.S ?? ''

export const HOSTILE_LISTS: Record<string, (cursor: number) => string> = {
  'large-tools'(cursor) {
    const length = Math.min(A_PAGE, MANY - cursor)
    const tools = Array.from({ length }, (_, at) =>
      tool(`large-${cursor + at}`, { inputSchema: schemaOf(LARGE_BYTES) }),
    )
    const next = cursor + A_PAGE
    return JSON.stringify({ tools, ...(next < MANY ? { nextCursor: String(next) } : {}) })
  },
  'null-cursor': () => JSON.stringify({ tools: [tool('only')], nextCursor: null }),
  // As text: an object literal would set the prototype instead.
  prototypes: () =>
    `{"__proto__":{"polluted":1},"tools":[{"name":"go","__proto__":{"polluted":1},
      "inputSchema":{"type":"object","__proto__":{"polluted":1},
        "properties":{"__proto__":{"type":"string"},"constructor":{"type":"string"}}},
      "annotations":{"__proto__":{"readOnlyHint":true},"constructor":{"prototype":{"polluted":1}}}}]}`.replaceAll(
      /\n\s*/g,
      '',
    ),
  'secret-definitions': () =>
    JSON.stringify({
      tools: [
        tool('go', {
          description: `uses ${secret()}`,
          inputSchema: { type: 'object', description: secret(), properties: { [secret()]: { default: secret() } } },
          annotations: { title: secret() },
        }),
        tool(`with-${secret()}`),
        tool(`broken-${secret()}`, { inputSchema: 5 }),
      ],
    }),
}
