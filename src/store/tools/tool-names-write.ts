/** What follows from a change of an environment's servers or tools: the names of all its tools, and its counts. */

import { only, rows, sql, type Write } from '../statement.ts'
import { nameTools } from './tool-name.ts'

interface NamedRow {
  id: number
  server: string
  own_name: string
  name: string
}

/** For a tool on its way to its name: no real name has a colon in it. */
export const interimName = (serverId: number, ownName: string): string => `${serverId}:${ownName}`

/** One tool that comes or goes may change what others are called. */
export function* nameAnew(environmentId: number): Write<void> {
  const tools = yield* rows<NamedRow>(sql`
    SELECT t.id, s.name AS server, t.own_name, t.name FROM tools t JOIN mcp_servers s ON s.id = t.server_id
    WHERE t.environment_id = ${environmentId}`)
  const names = nameTools(tools)
  const moving = tools.flatMap(({ id, name }, index) => {
    const wanted = names[index] as string
    return wanted === name ? [] : [{ id, name, wanted }]
  })
  const needed = new Set(moving.map(({ wanted }) => wanted))
  // Whoever has a name that another needs steps aside first.
  for (const { id, name } of moving) if (needed.has(name)) yield* rename(id, `:${id}`)
  for (const { id, wanted } of moving) yield* rename(id, wanted)
}

function* rename(id: number, name: string): Write<void> {
  yield* rows(sql`UPDATE tools SET name = ${name} WHERE id = ${id}`)
}

export function* countAnew(environmentId: number): Write<void> {
  const counted = yield* only<{ servers: number; tools: number }>(sql`
    SELECT count(*) AS servers, COALESCE(sum(tools_count), 0) AS tools FROM mcp_servers
    WHERE environment_id = ${environmentId}`)
  const [servers, tools] = [Number(counted.servers), Number(counted.tools)]
  yield* rows(sql`
    UPDATE environments SET mcp_servers_count = ${servers}, tools_count = ${tools}
    WHERE id = ${environmentId} AND (mcp_servers_count <> ${servers} OR tools_count <> ${tools})`)
}
