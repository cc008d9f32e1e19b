// Fifty starts that race on one thread, judged by the oracle of threads. A run that waits for a signal holds the thread before an interrupt and
// before a rollback, so that each of these races stops a run.
import { type Multitask, type PawlClient, PawlError } from "@pawl/client";
import { type Run, StopMode } from "@pawl/proto/pawl/v1/run_pb";
import { ThreadStatus } from "@pawl/proto/pawl/v1/thread_pb";
import pg from "pg";
import { expect } from "vitest";
import { threadFaults, type Turn } from "../stress/thread-oracle.ts";
import { checkInvariants } from "../support/invariants.ts";
import { graph } from "./graph.ts";
import { on, SAY } from "./turns.ts";

const STARTS = 50;
const STOPS: Readonly<Partial<Record<Multitask, StopMode>>> = {
  interrupt: StopMode.INTERRUPT,
  rollback: StopMode.ROLLBACK,
};

/** Races with the workflow "turn", by turns from all clients. `onFirst` is called when the first start is accepted. */
export async function raceOnThread(
  clients: readonly PawlClient[],
  databaseUrl: string,
  multitask: Multitask,
  onFirst: () => Promise<void> = async () => {},
): Promise<void> {
  const [pawl] = clients;
  if (pawl === undefined) throw new Error("no client");
  const threadId = `race-${multitask}`;
  const start = async (index: number, workflowId: string, strategy: Multitask): Promise<Turn> => {
    const from = clients[index % clients.length] ?? pawl;
    const sentAt = performance.now();
    const { run } = await from.runs.start(workflowId, on(threadId, index, strategy));
    const acceptedAt = performance.now();
    return { runId: run.runId, index, multitask: strategy, sentAt, acceptedAt };
  };
  const stop = STOPS[multitask];
  const wait = { type: "await_signal", config: { name: "go" } };
  const holding = graph(["start > say > wait > end"], { say: SAY, wait });
  if (stop !== undefined) await pawl.workflows.create(holding, { workflowId: `hold-${multitask}` });
  const held = stop === undefined ? [] : [await start(STARTS, `hold-${multitask}`, "enqueue")];
  const started = Array.from({ length: STARTS }, (_, index) => start(index, "turn", multitask));
  const settled = Promise.allSettled(started);
  await Promise.any(started);
  await onFirst();
  const refused = (await settled).flatMap((each) => {
    if (each.status === "fulfilled") return [];
    return each.reason instanceof PawlError ? [each.reason.reason] : [String(each.reason)];
  });
  expect(refused).toEqual(refused.map(() => (multitask === "reject" ? "THREAD_BUSY" : "none")));
  const raced = (await settled).flatMap((each) => (each.status === "fulfilled" ? each.value : []));
  const turns = [...held, ...raced];
  const ends = await Promise.all(turns.map(({ runId }) => ended(pawl, runId)));
  if (held.length > 0) expect(ends[0]?.stop).toBe(stop);
  const runCount = BigInt(turns.length);
  expect(await pawl.threads.get(threadId)).toMatchObject({ status: ThreadStatus.IDLE, runCount });
  const db = new pg.Client({ connectionString: databaseUrl });
  await db.connect();
  const faults = await threadFaults(db, threadId, turns);
  await db.end();
  expect(faults).toEqual([]);
  expect(await checkInvariants(databaseUrl), multitask).toEqual([]);
}

async function ended(pawl: PawlClient, runId: string): Promise<Run> {
  await pawl.runs.wait(runId);
  return (await pawl.runs.get(runId)).run;
}
