/** How a server's tools change: its list becomes what it said last, and whatever it kept stays the same tool. */
import { first, rows, sql, type Write } from '../statement.ts'
import { countAnew, interimName, nameAnew } from './tool-names-write.ts'

export interface ListedToolText {
  own_name: string
  description: string
  /** JSON text. */
  input_schema: string
  /** JSON text. */
  annotations: string
}

interface RecordTools {
  environment_id: number
  name: string
  /** The configuration that the list was obtained with: another one in the database makes it old news. */
  config_hash: string
  /** What was left out of the list, and why. */
  complaint: string | null
  tools: ListedToolText[]
}

interface ListingServer {
  id: number
  error: string | null
  listed_hash: string | null
}

type KnownTool = ListedToolText & { id: number }

export function* recordTools({ environment_id, name, config_hash, complaint, tools }: RecordTools): Write<null> {
  const server = yield* first<ListingServer>(sql`
    SELECT id, error, listed_hash FROM mcp_servers
    WHERE environment_id = ${environment_id} AND name = ${name} AND config_hash = ${config_hash}`)
  if (!server) return null
  const listed = byOwnName(tools)
  const known = byOwnName(yield* toolsOf(server.id))
  const gone = [...known.values()].filter(({ own_name }) => !listed.has(own_name))
  const added = [...listed.values()].filter(({ own_name }) => !known.has(own_name))
  for (const { id } of gone) yield* rows(sql`DELETE FROM tools WHERE id = ${id}`)
  for (const tool of added) yield* insert(environment_id, server.id, tool)
  for (const tool of listed.values()) yield* update(known.get(tool.own_name), tool)
  const isAnotherList = gone.length + added.length > 0
  if (isAnotherList || server.error !== complaint || server.listed_hash !== config_hash) {
    yield* rows(sql`
      UPDATE mcp_servers SET tools_count = ${listed.size}, listed_hash = ${config_hash}, error = ${complaint}
      WHERE id = ${server.id}`)
  }
  if (!isAnotherList) return null
  yield* nameAnew(environment_id)
  yield* countAnew(environment_id)
  return null
}

/** Of two with the same name the first counts. */
function byOwnName<Tool extends ListedToolText>(tools: readonly Tool[]): Map<string, Tool> {
  const first = new Map<string, Tool>()
  for (const tool of tools) if (!first.has(tool.own_name)) first.set(tool.own_name, tool)
  return first
}

function* toolsOf(serverId: number): Write<KnownTool[]> {
  return yield* rows<KnownTool>(sql`
    SELECT id, own_name, description, input_schema, annotations FROM tools WHERE server_id = ${serverId}`)
}

function* insert(environmentId: number, serverId: number, tool: ListedToolText): Write<void> {
  yield* rows(sql`
    INSERT INTO tools (server_id, environment_id, name, own_name, description, annotations, input_schema)
    VALUES (${serverId}, ${environmentId}, ${interimName(serverId, tool.own_name)}, ${tool.own_name},
      ${tool.description}, ${tool.annotations}, ${tool.input_schema})`)
}

function* update(known: KnownTool | undefined, { description, annotations, input_schema }: ListedToolText) {
  if (!known) return
  const isSame =
    known.description === description && known.annotations === annotations && known.input_schema === input_schema
  if (isSame) return
  yield* rows(sql`
    UPDATE tools SET description = ${description}, annotations = ${annotations}, input_schema = ${input_schema}
    WHERE id = ${known.id}`)
}
