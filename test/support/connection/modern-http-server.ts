// A server of the SDK in the modern era over HTTP.
import { getRequestListener } from '@hono/node-server'
import { createMcpHandler, type McpServer } from '@modelcontextprotocol/server'
import { type HttpServer, startHttp } from './odd-http-server.ts'

export interface ModernHttpServer extends HttpServer {
  toolsChanged(): void
}

export async function startModernHttp(
  create: () => McpServer,
  legacy: 'reject' | 'stateless',
): Promise<ModernHttpServer> {
  const handler = createMcpHandler(create, { legacy })
  const listener = getRequestListener((request) => handler.fetch(request))
  const server = await startHttp(listener)
  return {
    ...server,
    toolsChanged: () => handler.notify.toolsChanged(),
    async [Symbol.asyncDispose]() {
      await handler.close()
      await server[Symbol.asyncDispose]()
    },
  }
}
