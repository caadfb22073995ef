// The service as people run it, which also collects its garbage when it is sent SIGUSR2: what is left is what it keeps.
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

setFlagsFromString('--expose-gc')
const collect: (how: object) => void = runInNewContext('gc')
process.on('SIGUSR2', () => collect({ type: 'major', flavor: 'last-resort' }))
await import(new URL('../../../bin/agenthost.mjs', import.meta.url).href)
