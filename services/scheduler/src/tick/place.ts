// Where a ready node goes: straight to an executor connected here that has room, or into the queue of its type. A node never
// overtakes others of its type that wait already, and one that may not start yet always waits in the queue.

import { claimFact } from "@pawl/core/plan/claim";
import type { NewJob } from "@pawl/platform/queue/queue";
import type { Roster } from "../work/roster.ts";
import type { CachedRun } from "./cache.ts";
import type { Draft } from "./draft.ts";
import type { Waiting } from "./waiting.ts";

/** Places every node the draft made ready. */
export function place(draft: Draft, roster: Roster, waiting: Waiting): void {
  for (const { run, nodeIndex } of draft.ready.splice(0)) {
    // A later fact of the same draft may have cancelled it again.
    if (run.state.nodes[nodeIndex]?.status !== "queued") continue;
    const notBefore = run.state.nodes[nodeIndex]?.notBefore ?? 0;
    const delayMs = Math.max(0, notBefore - draft.now);
    const type = nodeTypeOf(run, nodeIndex);
    if (delayMs === 0 && !waiting.mayWait(type) && handOff(draft, roster, run, nodeIndex)) continue;
    draft.jobs.push(jobOf(run, nodeIndex, delayMs));
    if (delayMs === 0) waiting.enqueued(type, draft.now);
  }
}

/** Claims a queued node for an executor with room; false when there is none. */
export function handOff(draft: Draft, roster: Roster, run: CachedRun, nodeIndex: number): boolean {
  const session = roster.pick(nodeTypeOf(run, nodeIndex));
  if (session === undefined) return false;
  const fact = claimFact(run.state, nodeIndex, session.executorId);
  if (fact === undefined) return false;
  session.reserved += 1;
  draft.handOff({ run, nodeIndex, session }, fact);
  return true;
}

export function jobOf(run: CachedRun, nodeIndex: number, delayMs: number): NewJob {
  const { state, priority } = run;
  const definition = state.graph.nodes[nodeIndex]?.definition;
  if (definition === undefined) throw new RangeError(`no node at ${nodeIndex}`);
  return {
    runId: state.runId,
    nodeId: definition.id,
    iteration: 0,
    attempt: state.nodes[nodeIndex]?.attempt ?? 1,
    nodeType: definition.type,
    priority,
    ...(delayMs > 0 ? { delayMs } : {}),
  };
}

const nodeTypeOf = (run: CachedRun, nodeIndex: number): string =>
  run.state.graph.nodes[nodeIndex]?.definition.type ?? "";
