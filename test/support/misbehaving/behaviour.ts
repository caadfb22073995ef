// How a fault is written down: it sees the running server once, and then every message before the server does.
import { isCallOf, type Message } from './protocol.ts'

export interface Running {
  /** One message, as one line. */
  send(message: object): void
  answer(id: Message['id'], result: unknown): void
  /** Text that goes out as it is; a fault may replace it. */
  write(text: string): void
  /** What happens at the end of the input; a fault may replace it. */
  end(): void
  /** Writes a process into the file of pids. */
  note(pid: number | undefined): void
  readonly seconds: number
}

/** Says whether the message is dealt with. Undealt ones get the normal answer. */
type Hear = (message: Message) => boolean

/** May take its time, and may never return. */
export type Behaviour = (server: Running) => Hear | Promise<Hear>

type Act = (message: Message, server: Running) => void

const on =
  (applies: (message: Message) => boolean, act: Act): Behaviour =>
  (server) =>
  (message) => {
    const mine = applies(message)
    if (mine) act(message, server)
    return mine
  }

export const onMethod = (method: string, act: Act) => on((message) => message.method === method, act)

/** In a call of the tool `fault`. */
export const onFault = (act: Act) => on((message) => isCallOf('fault', message), act)

export const isCall = ({ method }: Message) => method === 'tools/call'

/** Keeps a process going that has nothing left to wait for. */
export const liveOn = () => void setInterval(() => {}, 1000)
