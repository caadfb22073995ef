// What the conformance suites start as the client under test, with the address of their server as the last argument.
// A suite starts all its clients at once; where a line is given, each of them waits there for its turn.
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import type { Complaints, Job } from './job.ts'

async function inTurn(line: string, job: Job): Promise<Complaints> {
  const socket = connect(line)
  socket.write(`${JSON.stringify(job)}\n`)
  return JSON.parse(await text(socket))
}

/** Loaded only here: a client that stands in line has to be light. */
async function alone(job: Job): Promise<Complaints> {
  const { openSupervisorHouse } = await import('../support/supervisor-house.ts')
  const { conform } = await import('./conform.ts')
  await using house = await openSupervisorHouse()
  return await conform(house, job)
}

const { MCP_CONFORMANCE_SCENARIO = '', MCP_CONFORMANCE_CONTEXT = '{}', CONFORMANCE_LINE } = process.env
const job: Job = {
  scenario: MCP_CONFORMANCE_SCENARIO,
  url: process.argv.at(-1) ?? '',
  context: JSON.parse(MCP_CONFORMANCE_CONTEXT),
}
const complaints = await (CONFORMANCE_LINE ? inTurn(CONFORMANCE_LINE, job) : alone(job))
for (const complaint of complaints) process.stderr.write(`${complaint}\n`)
if (complaints.length > 0) process.exitCode = 1
