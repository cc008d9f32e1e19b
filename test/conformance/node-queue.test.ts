// The queue of nodes can be replaced: the promises of jobs, recovery and a whole run hold on pg-boss, in memory and on a plain table.

import { connect, createEngine } from "@pawl/scheduler/tick/tick.fixture";
import { describe, expect, test } from "vitest";
import { jobSuite } from "./journal-jobs.ts";
import { openMemory } from "./memory.ts";
import { postgresWith } from "./postgres.ts";
import { finish, stage } from "./recovery-setup.ts";
import { recoverySuite } from "./recovery.ts";
import { TABLE_QUEUE } from "./table-queue.ts";

const openTable = postgresWith({ otherQueue: TABLE_QUEUE });

describe("jobs on a queue that is not pg-boss", () => {
  jobSuite(openTable);
});
recoverySuite("a queue that is not pg-boss", openTable);

const NODES = ["start", "a", "b", "c"];

test.each([
  ["memory", openMemory],
  ["pg-boss", postgresWith()],
  ["a plain table", openTable],
])(
  "a run whose nodes all pass through the queue has the same log on %s (S3.54)",
  async (_, open) => {
    const { store, definitionId } = await stage(open);
    const engine = createEngine(store, Date.now, { handsOff: false });
    const { runId } = await engine.start(definitionId);
    const waiting = (await store.journal.survey()).queues.filter((queue) => queue.waitingCount > 0);
    expect(waiting).toMatchObject([{ nodeType: "start", waitingCount: 1, dueInMs: 0 }]);
    await finish(engine, store, runId, connect(engine, 4));
    const { events } = await store.see(runId);
    expect(events.map(({ type, nodeId }) => `${type} ${nodeId}`.trim())).toEqual([
      "run.started",
      ...NODES.flatMap((id) => [`node.queued ${id}`, `node.started ${id}`, `node.completed ${id}`]),
      "run.completed",
    ]);
    const left = (await store.journal.survey()).queues.filter((queue) => queue.waitingCount > 0);
    expect(left).toEqual([]);
  },
);
