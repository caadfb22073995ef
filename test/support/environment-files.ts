// What a test does to the files of a supervised environment, and what is known of its tools afterwards.
import { rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Toolset } from '../../src/tools/toolset.ts'
import { createToolset } from '../../src/tools/toolset.ts'
import type { SupervisorHouse } from './supervisor-house.ts'

type Home = Pick<SupervisorHouse, 'home'>

/** Writes a file of the environment, whatever is in it. */
export const putFile = ({ home }: Home, name: string, text: string): Promise<void> =>
  writeFile(join(home, 'environments/default', name), text)

/** Takes the environments away, as a disk that is not mounted; returns a function that brings them back. */
export async function takeFolderAway({ home }: Home): Promise<() => Promise<void>> {
  const [here, away] = [join(home, 'environments'), join(home, 'environments-away')]
  await rename(here, away)
  return () => rename(away, here)
}

/** The tools of the environment with their ids. */
export const knownTools = async ({ store, environment }: SupervisorHouse) =>
  (await store.tools.ofEnvironment(environment.id)).map(({ id, name }) => ({ id, name }))

export interface HouseTools extends Pick<Toolset, 'bind'> {
  /** What a run of an agent is offered that names these tools, or wants all. */
  offer(tools: readonly string[] | null): ReturnType<Toolset['offerTo']>
}

export function toolsOf({ store, supervisor, environment }: SupervisorHouse): HouseTools {
  const toolset = createToolset({ store, supervisor })
  const place = { environment: environment.name, environment_id: environment.id }
  return { bind: toolset.bind, offer: (tools) => toolset.offerTo({ ...place, tools, notify: false }) }
}
