/** What a home starts with: a configuration, an agent to run, and tools for it. Never touches what is there. */
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

/** Both variables are built in: the Node that runs the service, and the folder that the service is installed in. */
const EXAMPLE_SERVER = `{
  "mcpServers": {
    "example": {
      "command": "\${AGENTHOST_NODE}",
      "args": ["\${AGENTHOST_ROOT}/examples/tools/server.ts"],
      "trusted": true
    }
  }
}
`

/** The variables of an environment are where its secrets are. */
const IGNORED = `data/
environments/*/variables.yml
environments/*/variables.yaml
`

export async function createExample(home: string): Promise<void> {
  const environments = join(home, 'environments')
  await mkdir(home, { recursive: true, mode: 0o700 })
  await writeNew(join(home, 'config.yaml'), CONFIG)
  await writeNew(join(home, '.gitignore'), IGNORED)
  const isNew = (await mkdir(environments, { recursive: true })) !== undefined
  if (!isNew) return
  await writeNew(join(environments, 'default', 'agents', 'hello.prompt'), HELLO)
  await writeNew(join(environments, 'default', 'example.json'), EXAMPLE_SERVER)
}

async function writeNew(path: string, text: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true })
  try {
    await writeFile(path, text, { flag: 'wx' })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  }
}
