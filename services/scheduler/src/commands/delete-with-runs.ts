// Deletes a thread or an assistant with its runs. It is closed first: no run of it starts from then on. Then its runs go in steps.
//
// Race: runs start while a forced deletion cancels the others. It cancels those too, and closes again. Race: a scheduler dies after the
// close. The sweep of another scheduler continues, because the mark is in the store (`duties/removals.ts`).

import type { EngineError } from "@pawl/core/fault/engine-error";
import type { RunId } from "@pawl/core/name/ids";
import { probe } from "@pawl/platform/lifecycle/probe";
import type { Removal } from "@pawl/platform/store/runs/runs";
import type { TickLoop } from "../tick/loop.ts";

/** Threads or assistants, as a deletion needs them. */
export interface Holders<Key> {
  close(key: Key): Promise<"closed" | "missing" | "busy">;
  liveRuns(key: Key): Promise<readonly RunId[]>;
  removeSome(key: Key): Promise<Removal>;
}

interface Deletion<Key> {
  readonly key: Key;
  /** Whether to cancel its live runs. */
  readonly force: boolean;
  readonly reason: string;
  readonly missing: () => EngineError;
  readonly busy: (runId: RunId) => EngineError;
}

/** How many rounds in a row may find no fresh run to cancel, or only few that started meanwhile. */
const ROUNDS_MAX = 5;
/** A round that cancels so many runs has made progress: an assistant may have more than one round reads. */
const MANY = 100;

/** @throws what `missing` and `busy` return */
export async function deleteWithRuns<Key>(
  holders: Holders<Key>,
  loop: Pick<TickLoop, "ask">,
  { key, force, reason, missing, busy }: Deletion<Key>,
): Promise<void> {
  const cancelled = new Set<RunId>();
  for (let rounds = 0; ;) {
    const result = await holders.close(key);
    if (result === "closed") break;
    if (result === "missing") throw missing();
    const live = await holders.liveRuns(key);
    const [first] = live;
    if (first === undefined) continue;
    const fresh = live.filter((runId) => !cancelled.has(runId));
    if (fresh.length < MANY) rounds += 1;
    if (!force || rounds > ROUNDS_MAX) throw busy(first);
    await cancelAll(loop, live, reason);
    for (const runId of fresh) cancelled.add(runId);
  }
  probe("removal.closed");
  await removeClosed(holders, key);
}

/** Cancels runs, the newest first: then a run that ends gives its thread to no other of them. */
async function cancelAll(
  loop: Pick<TickLoop, "ask">,
  runIds: readonly RunId[],
  reason: string,
): Promise<void> {
  const why = { reason, requestId: "", compensate: false };
  await Promise.all(
    runIds
      .toReversed()
      .map((runId) => loop.ask((answer) => ({ kind: "cancel", runId, ...why, answer }))),
  );
}

/** Removes the runs of a closed thread or assistant step by step, and then itself. A run with a live run below it waits for a sweep. */
export async function removeClosed<Key>(
  holders: Pick<Holders<Key>, "removeSome">,
  key: Key,
): Promise<void> {
  while ((await holders.removeSome(key)) === "more") probe("removal.step");
}
