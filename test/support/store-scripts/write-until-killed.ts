// Creates agents, removes every fifth, and says which of it was acknowledged, until somebody kills it.
import { writeSync } from 'node:fs'
import { openSqliteStore } from '../../../src/store/sqlite/open.ts'
import { createAgent, createEnvironment, removeAgent } from '../../store/sample.ts'

const [folder = '', lanes = '1'] = process.argv.slice(2)
const store = await openSqliteStore(folder)
const environment = await createEnvironment(store, 'default')

/** At once, so that nothing said is lost with the process; a full pipe only has to be read first. */
function say(line: string): void {
  for (let isSaid = false; !isSaid; ) {
    try {
      isSaid = writeSync(1, line) > 0
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') throw error
    }
  }
}

async function writeForever(lane: number): Promise<never> {
  for (let round = 0; ; round++) {
    const name = `${process.pid} ${lane} ${round}`
    const { id } = await createAgent(store, environment, name, { prompt: name.repeat(round % 200) + name })
    say(`created ${id} ${name}\n`)
    if (round % 5 !== 4) continue
    say(`removing ${id} ${name}\n`)
    await removeAgent(store, id)
    say(`removed ${id} ${name}\n`)
  }
}

await Promise.all(Array.from({ length: Number(lanes) }, (_, lane) => writeForever(lane)))
