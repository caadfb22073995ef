// Bugs that the durability suite must catch: each is a change of the sources that a tired person could make.

export interface Mutation {
  name: string
  /** Suite and test to try first, where another one would stumble over the bug for a lesser reason. */
  first?: [suite: string, test: string]
  changes: Change[]
}

interface Change {
  file: string
  /** Stands in the file exactly once. */
  find: string
  replace: string
}

export const MUTATIONS: readonly Mutation[] = [
  {
    name: 'a run is accepted before its commit',
    first: ['recovery', 'whatever was answered with 202'],
    changes: [
      {
        file: 'src/store/sqlite/writer-thread.ts',
        find: "    db.exec('COMMIT')",
        // A group commit that waits for company, as others have it.
        replace: `    if (writes.some(({ name }) => name === 'acceptRun')) {
      port.postMessage(replies)
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 20)
    }
    db.exec('COMMIT')`,
      },
    ],
  },
  {
    name: 'every request makes a run, whatever its key',
    changes: [
      {
        file: 'src/store/runs/accept-write.ts',
        find: 'request_key && (yield* earlierAnswer(request_key, at))',
        replace: 'null as never',
      },
      { file: 'src/runs/accept.ts', find: 'key && (await earlierAnswer(key))', replace: 'null as never' },
    ],
  },
  {
    name: 'the key is looked up only before the transaction',
    changes: [
      {
        file: 'src/store/runs/accept-write.ts',
        find: 'request_key && (yield* earlierAnswer(request_key, at))',
        replace: 'null as never',
      },
    ],
  },
  {
    name: 'any call in doubt is made again',
    changes: [{ file: 'src/runs/execute/in-doubt.ts', find: "tool?.repeat === 'safe'", replace: 'tool !== undefined' }],
  },
  {
    name: 'no call in doubt is made again',
    changes: [{ file: 'src/runs/execute/in-doubt.ts', find: "tool?.repeat === 'safe'", replace: 'false' }],
  },
  {
    name: 'hints of tools are believed without trust',
    changes: [
      {
        file: 'src/tools/repeat-policy.ts',
        find: 'trusted && (hints.readOnlyHint === true || hints.idempotentHint === true)',
        replace: '(trusted || true) && (hints.readOnlyHint === true || hints.idempotentHint === true)',
      },
    ],
  },
  {
    name: 'an ended run can end again',
    changes: [
      {
        file: 'src/store/runs/journal-write.ts',
        find: "AND epoch = ${epoch} AND status = 'running' RETURNING journal_seq, cancel_requested_at",
        replace: 'AND epoch = ${epoch} RETURNING journal_seq, cancel_requested_at',
      },
      {
        file: 'src/store/runs/end-write.ts',
        find: "WHERE id = ${run_id} AND status = 'running' RETURNING agent_id",
        replace: 'WHERE id = ${run_id} RETURNING agent_id',
      },
    ],
  },
  {
    name: 'an owner before may still write',
    changes: [
      {
        file: 'src/store/runs/journal-write.ts',
        find: "AND epoch = ${epoch} AND status = 'running' RETURNING journal_seq, cancel_requested_at",
        replace: "AND status = 'running' RETURNING journal_seq, cancel_requested_at",
      },
    ],
  },
  {
    name: 'recorded calls are made again',
    changes: [
      {
        file: 'src/runs/execute/call-tools.ts',
        find: "if (known && known.status !== 'running') return { key, call, outcome: known }",
        replace: '',
      },
    ],
  },
  {
    name: 'recorded model turns are made again',
    changes: [
      {
        file: 'src/runs/execute/converse.ts',
        find: "if (known?.status === 'completed') return { content: known.output, finish: 'tool-calls' }",
        replace: '',
      },
    ],
  },
  {
    name: 'a call is made before its intent is on disk',
    changes: [
      {
        file: 'src/runs/execute/call-tools.ts',
        find: '  await parts.journal.commit()',
        replace: '  void parts.journal.commit().catch(() => {})',
      },
    ],
  },
  {
    name: 'the key of a call changes when it is made again',
    changes: [
      {
        file: 'src/runs/execute/call-tools.ts',
        find: '`${run.id}:${step.key}`',
        replace: '`${run.id}:${step.key}${run.epoch > 1 ? `:${run.epoch}` : ""}`',
      },
    ],
  },
  {
    name: 'a stop drops what it has not written',
    changes: [{ file: 'src/runs/execute/execute.ts', find: 'return journal.release()', replace: 'return' }],
  },
  {
    name: 'recovery does not look whether a run was cancelled',
    changes: [
      {
        file: 'src/store/runs/claim-write.ts',
        find: 'if (yield* takeCancelled(id)) {',
        replace: 'if ((yield* takeCancelled(0)) && id === 0) {',
      },
      {
        file: 'src/store/runs/journal-write.ts',
        find: 'const cancel_requested = run.cancel_requested_at !== null',
        replace: 'const cancel_requested = false as boolean',
      },
    ],
  },
  {
    name: 'crashes are not counted',
    changes: [
      {
        file: 'src/store/runs/claim-write.ts',
        find: 'crashes = crashes + CASE WHEN owner <> ${owner} THEN 1 ELSE 0 END',
        replace: 'crashes = crashes + CASE WHEN owner <> ${owner} THEN 0 ELSE 0 END',
      },
    ],
  },
  {
    name: 'a stop in good order counts as a crash',
    changes: [
      {
        file: 'src/store/runs/claim-write.ts',
        find: "SET owner = NULL, phase = 'recovering'",
        replace: "SET phase = 'recovering'",
      },
    ],
  },
  {
    name: 'consumed time is forgotten',
    changes: [
      {
        file: 'src/store/runs/claim-write.ts',
        find: '...{ id, epoch, agent_id, environment_id, environment, model, consumed_ms, timeout_seconds },',
        replace:
          '...{ id, epoch, agent_id, environment_id, environment, model, consumed_ms: 0 * consumed_ms, timeout_seconds },',
      },
    ],
  },
  {
    name: 'the counter of running runs is forgotten at the end',
    changes: [{ file: 'src/store/runs/end-write.ts', find: "yield* countRuns(run, 'running', -1)", replace: '' }],
  },
  {
    name: 'interrupted runs are not taken up again',
    changes: [
      {
        file: 'src/store/runs/claim-write.ts',
        find: "WHERE status = 'running' AND phase IN ('executing', 'waiting') RETURNING id",
        replace: "WHERE status = 'running' AND phase IN ('waiting') RETURNING id",
      },
    ],
  },
]
