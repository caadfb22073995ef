/** What a home starts with: a configuration file to grow, and an agent to run. Never touches what is there. */
import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'

const CONFIG = `# Agenthost. Every key: agenthost config
agenthost: 1
`

const HELLO = `---
description: Greets, and answers what it can with the tools of its environment
variables:
  language:
    description: The language to answer in
    default: English
---
You are a friendly assistant. Answer in {{language}}, in a few short sentences.
When a tool can give you a fact, call it instead of guessing.
`

export async function createExample(home: string): Promise<void> {
  const environments = join(home, 'environments')
  await mkdir(home, { recursive: true, mode: 0o700 })
  await writeNew(join(home, 'config.yaml'), CONFIG)
  await writeNew(join(home, '.gitignore'), 'data/\n')
  const isNew = (await mkdir(environments, { recursive: true })) !== undefined
  if (isNew) await writeNew(join(environments, 'default', 'agents', 'hello.prompt'), HELLO)
}

async function writeNew(path: string, text: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true })
  try {
    await writeFile(path, text, { flag: 'wx' })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  }
}
