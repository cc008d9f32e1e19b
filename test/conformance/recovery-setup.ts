// A run on its way, on either kind of store, and schedulers that come and go. A scheduler that is left alone is as good as dead, since all
// that it knew was in its own memory.

import type { RunId } from "@pawl/core/name/ids";
import type { FoldedRun } from "@pawl/scheduler/commit/load-run";
import { loadRuns } from "@pawl/scheduler/commit/load-run";
import { connect, createEngine, saveGraph, type Engine } from "@pawl/scheduler/tick/tick.fixture";
import { SnapshotWriter } from "@pawl/scheduler/duties/snapshots";
import { until } from "../support/until.ts";
import { setup } from "./setup.ts";
import type { OpenStore, Seen, StoreUnderTest } from "./store.ts";

const NODES = ["start", "a", "b", "c"];
const CHAIN = {
  nodes: NODES.map((id) => ({ id, type: id === "start" ? "start" : "noop" })),
  edges: NODES.slice(1).map((target, index) => ({ source: NODES[index], target })),
};

interface Stage {
  readonly store: StoreUnderTest;
  readonly definitionId: string;
  /** A scheduler that has just begun. */
  readonly begin: () => Engine;
}

export async function stage(open: OpenStore): Promise<Stage> {
  const store = await setup(open);
  await store.prepare(["start", "noop"]);
  const definitionId = await saveGraph(store, CHAIN);
  return { store, definitionId, begin: () => createEngine(store, Date.now) };
}

/** Runs whatever an engine hands out until nothing more comes, or until `stopBefore` would be reported. */
async function work(
  engine: Engine,
  executor: ReturnType<typeof connect>,
  stopBefore = "",
): Promise<void> {
  for (;;) {
    const claims = executor.take();
    if (claims.length === 0) return;
    for (const claim of claims) {
      if (claim.nodeId === stopBefore) return;
      executor.session.letGo(claim);
      await engine.outcome(claim, { kind: "completed", outputJson: "{}", durationMs: 1 });
    }
  }
}

/** Lets a scheduler with an executor finish the run; the executor leaves afterwards. */
export async function finish(
  engine: Engine,
  store: StoreUnderTest,
  runId: RunId,
  executor = connect(engine, 4),
): Promise<void> {
  for (const type of ["start", "noop"]) engine.waiting.enqueued(type, 0);
  engine.loop.poll();
  const isOver = async (): Promise<boolean> => {
    await work(engine, executor);
    return (await store.see(runId)).run?.hasEnded ?? false;
  };
  await until(isOver, { what: "the end of the run" });
  engine.connected.leave(executor.session);
}

/** A run whose nodes before `node` are done; `node` is queued and no executor has it. */
export async function runUpTo(
  { store, definitionId, begin }: Stage,
  node: string,
): Promise<{ readonly runId: RunId; readonly engine: Engine }> {
  const engine = begin();
  const executor = connect(engine, 1);
  const { runId } = await engine.start(definitionId);
  await work(engine, executor, node);
  // The executor gives the node back, and no other executor is there to take it.
  engine.connected.leave(executor.session);
  const lease = (await store.see(runId)).leases[0];
  if (lease !== undefined) await give(engine, runId, lease);
  return { runId, engine };
}

const give = (engine: Engine, runId: RunId, lease: Seen["leases"][number]): Promise<unknown> =>
  new Promise<unknown>((resolve, reject) => {
    const { nodeId, iteration, epoch, executorId } = lease;
    engine.loop.submit({
      kind: "lost",
      // The store gives ids as plain text.
      claim: { runId, nodeId: nodeId as never, iteration, epoch },
      reason: "released",
      executorId: executorId as never,
      answer: { resolve, reject },
    });
  });

/** Writes a snapshot of the run as it is now. */
export async function writeSnapshotOf(engine: Engine, runId: RunId): Promise<number> {
  const writer = new SnapshotWriter(engine);
  writer.add(runId, "write");
  const load = async (): Promise<number | undefined> => {
    const [run] = await engine.journal.load([{ runId, afterSeq: 0, fromSnapshot: true }]);
    return run?.snapshot?.seq;
  };
  return await until(load, { what: "the snapshot" });
}

/** The run as a scheduler that has just begun reads it. */
export async function foldOf(engine: Engine, runId: RunId): Promise<FoldedRun> {
  const [found] = await loadRuns(engine, [runId]);
  if (found === undefined) throw new Error(`there is no run ${runId}`);
  return found;
}
