import { test } from "vitest";
import { expectTold, type ToldCase } from "../../test/told-case.ts";
import { EXECUTOR, sketch, startToyRun, type ToyRun } from "../../test/toy-run.ts";
import { nodeId } from "../name/ids.ts";
import { RUN_PLACE } from "../plan/place.ts";
import type { ExecutorSeen, WaitingRoom } from "./room.ts";

const BUSY: ExecutorSeen = {
  executorId: EXECUTOR,
  nodeTypes: ["start", "task"],
  slots: 2,
  heldCount: 2,
};
const PROCESS = { processName: "pricing", language: "python 3.12", build: "7f3a" };
const FREE: ExecutorSeen = { ...BUSY, heldCount: 1 };

const blocked =
  (reason: string): (() => ToyRun) =>
  () => {
    const run = startToyRun(sketch(["a"], []));
    run.claim("a");
    const place = { nodeId: nodeId("a"), iteration: 0, attempt: 1, epoch: 3 };
    run.append({
      ...place,
      type: "node.blocked",
      payload: { reason, phase: "input", durationMs: 0 },
    });
    return run;
  };

const leased = (run: ToyRun): Partial<WaitingRoom> => ({
  leases: [{ nodeId: "a", iteration: 0, epoch: 3, executorId: EXECUTOR, untilAt: run.now + 9_000 }],
});

const unstored = (node: string, epoch: number) => ({
  nodeId: node,
  iteration: 0,
  epoch,
  reason: "its disk is full",
});

const TABLE: readonly ToldCase[] = [
  {
    title: "a node behind unsettled parents names them and where they stand",
    run: () => {
      const run = startToyRun(sketch(["a", "b", "c", "d"], ["a>b", "a>c", "b>d", "c>d"]));
      run.complete("a");
      run.claim("b");
      return run;
    },
    node: "d",
    reason: "WAITING_PARENTS",
    says: ["all of its 2 parents", "b (running), c (queued)"],
    cites: ["6 node.queued c", "7 node.started b"],
  },
  {
    title: "a join of n says how many it waits for",
    run: () => startToyRun(sketch(["a", "b", { id: "c", join: "any" }], ["a>b", "a>c", "b>c"])),
    node: "c",
    reason: "WAITING_PARENTS",
    says: ["any of its 2 parents", "a (queued), b (pending)"],
    cites: ["2 node.queued a"],
  },
  {
    title: "a failed attempt that is tried again waits out its backoff",
    run: () => {
      const run = startToyRun(sketch([{ id: "a", retry: { attempts: 3, backoff_ms: 4_000 } }], []));
      run.fail("a");
      return run;
    },
    node: "a",
    reason: "BACKOFF",
    says: ["Attempt 1 ended with provider_error", "attempt 2 of 3 begins in 4 s"],
    cites: ["4 node.retried a", "5 node.queued a"],
  },
  {
    title: "a node behind a delay names the node that delays it",
    run: () => {
      const run = startToyRun(sketch(["a", "b"], ["a>b"]));
      run.complete("a", null, { queueDelayMs: 90_000 });
      return run;
    },
    node: "b",
    reason: "DELAYED",
    says: ["2 min more"],
    cites: ["4 node.completed a", "5 node.queued b"],
  },
  {
    title: "a type that no executor serves is named, with the served types",
    run: () => {
      const run = startToyRun(sketch(["a", { id: "b", type: "rocket" }], ["a>b"]));
      run.complete("a");
      return run;
    },
    node: "b",
    room: () => ({ executors: [FREE] }),
    reason: "NO_EXECUTOR",
    says: ["No connected executor serves type rocket", "1 executor connected, serving start, task"],
    cites: ["5 node.queued b"],
  },
  {
    title: "the explanation says that no executor is connected",
    run: () => startToyRun(sketch([{ id: "a", type: "task" }], [])),
    node: "a",
    reason: "NO_EXECUTOR",
    says: ["no executor is connected"],
    cites: ["2 node.queued a"],
  },
  {
    title: "a glue node beyond the budget of a tick, or behind a delay, waits for a scheduler",
    run: () => {
      const run = startToyRun(sketch(["a", { id: "b", type: "noop" }], ["a>b"]));
      run.complete("a");
      return run;
    },
    node: "b",
    room: () => ({ executors: [FREE], aheadCount: 3 }),
    reason: "QUEUED",
    says: ["A scheduler completes it, without an executor, behind 3 jobs"],
    cites: ["5 node.queued b"],
  },
  {
    title: "full executors and no executors have different answers",
    run: () => startToyRun(sketch([{ id: "a", type: "task" }], [])),
    node: "a",
    room: () => ({ executors: [BUSY, BUSY], aheadCount: 7 }),
    reason: "EXECUTORS_FULL",
    says: ["2 executors", "capacity of 4 attempts is in use", "behind 7 jobs"],
    cites: ["2 node.queued a"],
  },
  {
    title: "a node that is next in line says so",
    run: () => startToyRun(sketch([{ id: "a", type: "task" }], [])),
    node: "a",
    room: () => ({ executors: [BUSY, FREE], aheadCount: 0 }),
    reason: "QUEUED",
    says: ["next in line", "1 executor has room"],
    cites: ["2 node.queued a"],
  },
  {
    title: "a held lease names executor, epoch and how long it lasts",
    run: () => {
      const run = startToyRun(sketch(["a"], []));
      run.claim("a");
      return run;
    },
    node: "a",
    room: leased,
    reason: "RUNNING",
    says: [EXECUTOR, "epoch 3", "lasts 9 s more"],
    cites: ["3 node.started a"],
  },
  {
    title:
      "a running node names the silent handler process behind its executor, and when the executor gives it up",
    run: () => {
      const run = startToyRun(sketch(["a"], []));
      run.claim("a");
      return run;
    },
    node: "a",
    room: (run) => ({
      ...leased(run),
      executors: [
        {
          ...{ ...FREE, ...PROCESS, executorId: EXECUTOR, slots: 0, heldCount: 1 },
          ...{ silentMs: 22_000, giveUpMs: 38_000 },
        },
      ],
    }),
    reason: "RUNNING",
    says: [
      "Its handler process pricing (python 3.12, build 7f3a) has been silent for 22 s, and the executor gives it up in 38 s; 1 slot busy, and it gets no new work.",
    ],
    cites: ["3 node.started a"],
  },
  {
    title: "a running node names the slots of the handler process behind its executor",
    run: () => {
      const run = startToyRun(sketch(["a"], []));
      run.claim("a");
      return run;
    },
    node: "a",
    room: (run) => ({
      ...leased(run),
      executors: [{ ...FREE, ...PROCESS, executorId: EXECUTOR, slots: 8, heldCount: 3 }],
    }),
    reason: "RUNNING",
    says: ["Its handler process pricing (python 3.12, build 7f3a) answers; 3 of 8 slots busy."],
    cites: ["3 node.started a"],
  },
  {
    title: "a result that cannot be stored yet has an answer of its own, with the reason",
    run: () => {
      const run = startToyRun(sketch(["a"], []));
      run.claim("a");
      return run;
    },
    node: "a",
    room: (run) => ({ ...leased(run), unstored: [unstored("a", 3)] }),
    reason: "RESULT_UNSTORED",
    says: [EXECUTOR, "has finished it", "cannot store the result yet: its disk is full"],
    cites: ["3 node.started a"],
  },
  {
    title: "a result of an older claim says nothing about the present one",
    run: () => {
      const run = startToyRun(sketch(["a"], []));
      run.claim("a");
      return run;
    },
    node: "a",
    room: (run) => ({ ...leased(run), unstored: [unstored("a", 2)] }),
    reason: "RUNNING",
    says: [EXECUTOR],
    cites: ["3 node.started a"],
  },
  {
    title: "a lease whose executor is silent has another answer than a held lease",
    run: () => {
      const run = startToyRun(sketch(["a"], []));
      run.claim("a");
      return run;
    },
    node: "a",
    reason: "LEASE_LOST",
    says: [EXECUTOR, "is silent"],
    cites: ["3 node.started a"],
  },
  {
    title: "a node that waits for approval waits for a person",
    run: blocked("approval"),
    node: "a",
    reason: "WAITING_PERSON",
    says: ["approval"],
    cites: ["3 node.started a", "4 node.blocked a"],
  },
  {
    title: "a node held by moderation waits for a person",
    run: blocked("moderation_hold"),
    node: "a",
    reason: "WAITING_PERSON",
    says: ["moderation_hold"],
    cites: ["3 node.started a", "4 node.blocked a"],
  },
  {
    title: "a node that started a run waits for it",
    run: blocked("child_run"),
    node: "a",
    reason: "WAITING_CHILD_RUN",
    says: ["child run"],
    cites: ["3 node.started a", "4 node.blocked a"],
  },
  {
    title: "a node of a paused run waits for its resumption",
    run: () => {
      const run = startToyRun(sketch(["a"], []));
      const payload = { from: "running", to: "paused" } as const;
      run.append({ ...RUN_PLACE, type: "run.status.changed", payload });
      return run;
    },
    node: "a",
    reason: "RUN_PAUSED",
    says: ["paused"],
    cites: ["3 run.status.changed "],
  },
  {
    title:
      "a node of a run with a paused workflow names the user, the reason and the command that resumes it",
    run: () => {
      const run = startToyRun(sketch(["a"], []));
      const note = { scope: "workflow", who: "ada", reason: "a bad model" } as const;
      const payload = { from: "running", to: "paused", ...note } as const;
      run.append({ ...RUN_PLACE, type: "run.status.changed", payload });
      return run;
    },
    node: "a",
    reason: "RUN_PAUSED",
    says: ["workflow is paused by ada (a bad model)"],
    cites: ["3 run.status.changed "],
  },
  {
    title:
      "a node whose queue is paused names the user, the reason and the command that resumes it",
    run: () => startToyRun(sketch(["a"], [])),
    room: (run) => ({
      executors: [FREE],
      queuePauses: [{ nodeType: "start", by: "ada", reason: "a bad model", since: run.now }],
    }),
    node: "a",
    reason: "QUEUE_PAUSED",
    says: ["queue of type start is paused by ada (a bad model)"],
    cites: ["2 node.queued a"],
  },
];

test.each(TABLE)("$title", expectTold);
