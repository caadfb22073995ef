/** Lists at 1,000 and at 1,000,000 runs: what a page costs, and who has to wait while somebody searches. */
import { join } from 'node:path'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as delay } from 'node:timers/promises'
import { DEFAULT_DEFINITION } from '../src/contract/agent.ts'
import type { RunFilter } from '../src/store/runs/reads.ts'
import { openSqliteStore } from '../src/store/sqlite/open.ts'
import type { Store } from '../src/store/store.ts'
import { atMost, type Row } from './row.ts'
import { median, withFolder } from './service.ts'

const FEW = 1_000
const MANY = 1_000_000
const AGENTS = 20
const ROUNDS = 300
const MOST_TIMES = 3
const MOST_DELAY_MS = 20
const NS_IN_MS = 1_000_000
const PAGE = { page: 1, limit: 20 }
const LISTS: Record<string, RunFilter> = { all: {}, 'by status': { status: 'completed' }, 'by agent': { agent_id: 7 } }

export async function lists(): Promise<Row[]> {
  const few = await withRuns(FEW, measurePages)
  return withRuns(MANY, async (store, builtMs) => {
    const many = await measurePages(store)
    const pages = Object.keys(LISTS).map((name) => {
      const [before, after] = [few[name] ?? Number.NaN, many[name] ?? Number.NaN]
      const note = `${before.toFixed(2)} → ${after.toFixed(2)} ms at 1,000 → 1,000,000 runs`
      return atMost(`page 1 of runs, ${name}, ×`, after / before, MOST_TIMES, note)
    })
    const { delayMs, searchMs } = await measureSearch(store)
    const note = `during a search of ${(searchMs / 1000).toFixed(1)} s over 1,000,000 runs (built in ${(builtMs / 1000).toFixed(0)} s)`
    return [...pages, atMost('loop delay while searching, p99 ms', delayMs, MOST_DELAY_MS, note)]
  })
}

async function withRuns<Result>(count: number, measure: (store: Store, builtMs: number) => Promise<Result>) {
  return withFolder(async (folder) => {
    const began = performance.now()
    await createAgents(folder)
    insertRuns(join(folder, 'agenthost.sqlite'), count)
    const builtMs = performance.now() - began
    const store = await openSqliteStore(folder)
    try {
      return await measure(store, builtMs)
    } finally {
      await store.close()
    }
  })
}

async function createAgents(folder: string): Promise<void> {
  const store = await openSqliteStore(folder)
  const { id } = await store.write('ensureEnvironment', { name: 'bench', at: 0 })
  for (let agent = 1; agent <= AGENTS; agent++) {
    const definition = { ...DEFAULT_DEFINITION, tools: null, variables: [], name: `agent ${agent}`, prompt: 'Work.' }
    await store.write('createAgent', { environment_id: id, definition, source: 'api', file: null, at: 0 })
  }
  await store.close()
}

/** Rows as runs leave them; nothing is durable here, since nobody needs it tomorrow. */
function insertRuns(file: string, count: number): void {
  const db = new DatabaseSync(file)
  db.exec('PRAGMA synchronous = OFF; PRAGMA journal_mode = OFF; PRAGMA cache_size = -400000')
  // Small numbers that look like chance: 1 of 100 runs is under way, 9 failed.
  db.exec(`
    INSERT INTO runs (agent_id, agent_name, agent_version, environment_id, environment, status, phase, attempts,
      timeout_seconds, journal_version, model, input_tokens, output_tokens, cost_usd, steps_count, tool_calls_count,
      source_type, created_at, started_at, completed_at, error_code, error_message, message, source, variables, task,
      result, messages)
    WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ${count}),
      dice (n, die, agent) AS (SELECT n, n * 7919 % 100, 1 + n * 104729 % ${AGENTS} FROM numbers)
    SELECT agent, 'agent ' || agent, 1, 1, 'bench',
      CASE die WHEN 0 THEN 'running' ELSE iif(die < 10, 'error', 'completed') END, iif(die = 0, 'queued', NULL), 1,
      900, 1, 'offline/offline', 812, 64, 0, 3, 1,
      iif(die % 3 = 0, 'webhook', 'api'), n * 1000, n * 1000, iif(die = 0, NULL, n * 1000 + 900),
      iif(die BETWEEN 1 AND 9, 'MODEL_ERROR', NULL), iif(die BETWEEN 1 AND 9, 'the model was not there', NULL), 'done',
      '{"type":"api","principal":null,"address":"127.0.0.1","user_agent":"bench","request_id":"' || n || '"}',
      '{"host":"host-' || die || '"}', ${text('Look at the alert on host', 3)},
      iif(die < 10, NULL, ${text('The alert was about memory on host', 6)}),
      '[{"role":"system","content":"' || ${text('You look after machines like', 6)} || '"}]'
    FROM dice`)
  db.exec(`
    INSERT INTO steps (run_id, key, position, seq, epoch, type, name, status, started_at, completed_at, output)
    SELECT id, key, position, position + 1, 1, type, 'step', 'completed', created_at, created_at, '"fine"'
    FROM runs JOIN (SELECT '1' AS key, 0 AS position, 'model' AS type UNION ALL SELECT '1.0', 1, 'tool'
      UNION ALL SELECT '2', 2, 'model') WHERE id % 100 = 1`)
  db.exec(`INSERT INTO run_counts (agent_id, status, environment_id, count)
    SELECT agent_id, status, environment_id, count(*) FROM runs GROUP BY agent_id, status, environment_id`)
  db.close()
}

/** A sentence of about 50 characters, this often. */
const text = (words: string, times: number) =>
  Array.from({ length: times }, (_, line) => `'${words} ' || (n * ${line + 31}) || ' and say what is wrong. '`).join(
    ' || ',
  )

async function measurePages(store: Store): Promise<Record<string, number>> {
  const medians: Record<string, number> = {}
  for (const [name, filter] of Object.entries(LISTS)) {
    const taken: number[] = []
    for (let round = 0; round < ROUNDS; round++) {
      const began = performance.now()
      const { items } = await store.runs.list(filter, PAGE)
      taken.push(performance.now() - began)
      if (items.length !== PAGE.limit) throw new Error(`the page of runs ${name} has ${items.length} items`)
    }
    medians[name] = median(taken)
  }
  return medians
}

/** Words that no run has, so that every one is looked at; meanwhile others read their pages. */
async function measureSearch(store: Store): Promise<{ delayMs: number; searchMs: number }> {
  // Starting the thread is no part of searching.
  await store.runs.list({ source: 'ui' }, PAGE)
  const loop = monitorEventLoopDelay({ resolution: 1 })
  const began = performance.now()
  let isOver = false
  loop.enable()
  const search = store.runs.list({ q: 'nobody ever said this' }, PAGE).finally(() => {
    isOver = true
  })
  while (!isOver) {
    await store.runs.list({}, PAGE)
    await delay(5)
  }
  loop.disable()
  await search
  return { delayMs: loop.percentile(99) / NS_IN_MS, searchMs: performance.now() - began }
}
