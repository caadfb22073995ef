/** The connection under a request. Only the listener hands it over; a call in process has none. */
import type { HttpBindings } from '@hono/node-server'
import type { Context } from 'hono'

export type NodeBinding = HttpBindings

export function bindingOf(c: Context): NodeBinding | undefined {
  const binding: Partial<NodeBinding> | undefined = c.env
  return binding?.incoming && binding.outgoing ? (binding as NodeBinding) : undefined
}

/** Ends the connection of a client that has taken nothing of its answer for this long, and of nobody else. */
export function hangUpWhenStuck(c: Context, ms: number): void {
  const outgoing = bindingOf(c)?.outgoing
  outgoing?.setTimeout(ms, () => outgoing.destroy())
}
