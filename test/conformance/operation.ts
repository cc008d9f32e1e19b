// Random operations on a journal, and how each is carried out. The test works out the arguments of an operation once, from the committed
// rows of one store, and so asks both stores exactly the same.

import { isUniqueViolation } from "@pawl/platform/db/failure";
import { unreachable } from "@pawl/core/fault/invariant";
import { EFFECT_CLASSES } from "@pawl/core/policy/effect";
import type { Fact } from "@pawl/core/log/event";
import { nodeId, type ExecutorId, type NodeId, type RunId } from "@pawl/core/name/ids";
import { RunMoved, type Journal, type Transaction } from "@pawl/platform/store/tick/journal";
import type { LeaseKey } from "@pawl/platform/store/leases/leases";
import * as fc from "fast-check";
import {
  appends,
  change,
  completed,
  delta,
  HOUR_MS,
  newRun,
  queued,
  runStarted,
  started,
} from "./facts.ts";
import type { Seen } from "./store.ts";

/** The ids of one random history. */
export interface World {
  readonly tenantId: string;
  readonly nodeType: string;
  readonly runIds: readonly RunId[];
  readonly executorId: ExecutorId;
}

const place = { run: fc.nat(2), node: fc.nat(2) };
const piece = fc.record({
  kind: fc.constantFrom("queue", "claim", "claim", "complete", "complete", "release"),
  node: fc.nat(2),
  attempt: fc.integer({ min: 1, max: 2 }),
});
const streamed = fc.record({
  node: fc.nat(2),
  isStale: fc.boolean(),
  ordinal: fc.integer({ min: 1, max: 4 }),
});

const effect = fc.record({
  node: fc.nat(2),
  isStale: fc.constantFrom(false, false, true),
  name: fc.constantFrom("charge", "mail"),
  class: fc.constantFrom(...EFFECT_CLASSES),
});

/** One operation; `isAbandoned` ones throw at the end of their transaction. */
export const operation = fc.oneof(
  fc.record({ kind: fc.constant("begin"), run: place.run, request: fc.nat(2) }),
  fc.record({
    kind: fc.constant("step"),
    run: place.run,
    lag: fc.constantFrom(0, 0, 0, 1),
    pieces: fc.array(piece, { maxLength: 3 }),
    ends: fc.constantFrom(false, false, false, true),
    isAbandoned: fc.constantFrom(false, false, false, true),
  }),
  fc.record({
    kind: fc.constant("stream"),
    run: place.run,
    items: fc.array(streamed, { minLength: 1, maxLength: 4 }),
  }),
  fc.record({
    kind: fc.constant("effects"),
    run: place.run,
    begins: fc.array(effect, { maxLength: 3 }),
    commits: fc.array(effect, { maxLength: 3 }),
    extensions: fc.array(effect, { maxLength: 2 }),
  }),
  fc.record({
    kind: fc.constant("enqueue"),
    ...place,
    priority: fc.nat(2),
    isLater: fc.constantFrom(false, false, true),
    isAbandoned: fc.constantFrom(false, false, true),
  }),
  fc.record({
    kind: fc.constant("drop"),
    ...place,
    isAbandoned: fc.constantFrom(false, false, true),
  }),
  fc.record({
    kind: fc.constant("fetch"),
    count: fc.integer({ min: 1, max: 3 }),
    isAbandoned: fc.constantFrom(false, true),
  }),
);

/** Any operation. */
type Operation = typeof operation extends fc.Arbitrary<infer T> ? T : never;
type Of<Kind extends Operation["kind"]> = Extract<Operation, { readonly kind: Kind }>;

/** What happens inside one transaction; its answer is comparable between stores. */
type Work = (tx: Transaction) => Promise<unknown>;

class Abandoned extends Error {}

const node = (index: number): NodeId => nodeId(`n${index}`);
const pick = <T>(list: readonly T[], index: number): T => {
  const found = list[index];
  if (found === undefined) throw new Error("this world has no such run");
  return found;
};

/** The work of an operation, given what is committed for each run of the world. */
export function toWork(op: Operation, world: World, seen: readonly Seen[]): Work {
  switch (op.kind) {
    case "begin":
      return beginWork(op, world);
    case "step":
      return stepWork(op, world, pick(seen, op.run));
    case "stream":
      return streamWork(op, world, pick(seen, op.run));
    case "effects":
      return effectsWork(op, world, pick(seen, op.run));
    case "enqueue":
      return enqueueWork(op, world);
    case "drop": {
      const key = { runId: pick(world.runIds, op.run), nodeId: node(op.node) };
      return async (tx) => {
        await tx.dropJobs([{ ...key, iteration: 0, attempt: 1, nodeType: world.nodeType }]);
        if (op.isAbandoned) throw new Abandoned();
      };
    }
    case "fetch":
      return async (tx) => {
        const jobs = await tx.fetch(world.nodeType, op.count);
        if (op.isAbandoned) throw new Abandoned();
        return jobs.map((job) => `${job.runId}/${job.nodeId}`).toSorted();
      };
    default:
      return unreachable(op, "operation");
  }
}

function beginWork({ run, request }: Of<"begin">, { tenantId, runIds }: World): Work {
  const requestId = request === 0 ? null : `request-${request}`;
  const requestHash = requestId === null ? null : "hash";
  const row = newRun({ runId: pick(runIds, run), tenantId, requestId, requestHash });
  return async (tx) => {
    void tx.insertRuns([row]);
    await tx.append(appends(row.runId, [runStarted]));
  };
}

function stepWork(op: Of<"step">, { runIds, executorId }: World, seen: Seen): Work {
  const runId = pick(runIds, op.run);
  const facts: Fact[] = [];
  const closed: LeaseKey[] = [];
  const opened: { readonly key: LeaseKey; readonly index: number }[] = [];
  for (const { kind, node: index, attempt } of op.pieces) {
    const key = { runId, nodeId: node(index), iteration: 0 };
    const epoch = seen.leases.find((lease) => lease.nodeId === key.nodeId)?.epoch ?? 0;
    if (kind === "queue") facts.push(queued(key.nodeId, attempt));
    else if (kind === "complete") facts.push(completed(epoch, { node: key.nodeId, attempt }));
    else if (kind === "release") closed.push(key);
    else {
      opened.push({ key, index: facts.length });
      facts.push(started(executorId, key.nodeId));
    }
  }
  const version = (seen.run?.version ?? 1) - op.lag;
  const over = op.ends ? ({ status: "completed", ended: true } as const) : {};
  return async (tx) => {
    const advanced = tx.advance([change(runId, version, facts.length, over)]);
    void tx.append(appends(runId, facts));
    void tx.closeLeases(closed);
    void tx.openLeases(
      opened.map(({ key, index }) => ({
        ...key,
        back: facts.length - 1 - index,
        attempt: 1,
        executorId,
      })),
    );
    if (op.isAbandoned) throw new Abandoned();
    return (await advanced).get(runId);
  };
}

function streamWork({ run, items }: Of<"stream">, { runIds, executorId }: World, seen: Seen): Work {
  const facts = items.map(({ node: index, isStale, ordinal }) => {
    const lease = seen.leases.find((each) => each.nodeId === node(index));
    const epoch = (lease?.epoch ?? 1) - (isStale ? 1 : 0);
    return delta(pick(runIds, run), epoch, ordinal, { node: node(index), executor: executorId });
  });
  return (tx) => tx.stream(facts);
}

function effectsWork(op: Of<"effects">, { runIds, executorId }: World, seen: Seen): Work {
  const claimOf = (at: { readonly node: number; readonly isStale: boolean }) => {
    const lease = seen.leases.find((each) => each.nodeId === node(at.node));
    const epoch = (lease?.epoch ?? 1) - (at.isStale ? 1 : 0);
    const key = { nodeId: node(at.node), iteration: 0, epoch };
    return { runId: pick(runIds, op.run), ...key, executorId };
  };
  // One begin a key: of two with different classes in one statement, either may be the first.
  const begins = new Map(op.begins.map((begin) => [`${begin.node} ${begin.name}`, begin]));
  return async (tx) => {
    const begun = tx.beginEffects(
      [...begins.values()].map((begin) => ({
        ...claimOf(begin),
        name: begin.name,
        class: begin.class,
      })),
    );
    const committed = tx.commitEffects(
      op.commits.map((commit, at) => ({
        ...claimOf(commit),
        name: commit.name,
        resultJson: `{"n":${at}}`,
      })),
    );
    const extended = tx.extendLeases(
      op.extensions.map((extension) => ({ ...claimOf(extension), extendMs: HOUR_MS })),
    );
    const results = (await begun).map((each) =>
      each.state === "committed" ? (JSON.parse(each.resultJson) as unknown) : each.state,
    );
    return [results, await committed, await extended];
  };
}

function enqueueWork(op: Of<"enqueue">, { runIds, nodeType }: World): Work {
  const key = { runId: pick(runIds, op.run), nodeId: node(op.node), iteration: 0, attempt: 1 };
  const delay = op.isLater ? { delayMs: HOUR_MS } : {};
  return async (tx) => {
    await tx.enqueue([{ ...key, nodeType, priority: op.priority, ...delay }]);
    if (op.isAbandoned) throw new Abandoned();
  };
}

/** Carries the work out and says how it went, in words that are the same for every store. */
export async function outcomeOf(journal: Journal, work: Work): Promise<unknown> {
  try {
    return { done: await journal.transact(work) };
  } catch (error) {
    if (error instanceof RunMoved) return "moved";
    if (error instanceof Abandoned) return "abandoned";
    if (isUniqueViolation(error)) return "duplicate";
    throw error;
  }
}
