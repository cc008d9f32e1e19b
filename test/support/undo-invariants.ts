// Invariants of compensation: what a compensated run undoes, in which order, and what is left for a person.
import { isFinal, isSettled, type LoggedFact } from "@pawl/core/log/event";
import { isSettlingType } from "@pawl/core/log/meaning";
import type { RunState } from "@pawl/core/log/state";
import { isUndo, undoneBy, undoOf } from "@pawl/core/log/undo-iteration";

/** A dead letter of a compensation. */
export type LetterSeen = {
  readonly runId: string;
  readonly nodeId: string;
  readonly iteration: number;
};

export const LETTERS = `
select run_id as "runId", node_id as "nodeId", iteration
from pawl.dead_letters
where iteration >= ${undoOf(0)} and ($1::uuid[] is null or run_id = any ($1))`;

type Report = (seq: number, rule: string) => void;

/**
 * Compensations begin after the run does nothing else. A run that ends has undone each completed execution, or has a dead letter of it. An
 * execution is undone only after those behind it.
 */
export function checkUndos(
  state: RunState,
  events: readonly LoggedFact[],
  letters: readonly LetterSeen[],
  report: Report,
): void {
  const begins = events.find(
    ({ type, payload }) =>
      (type === "run.status.changed" && "ending" in payload) ||
      (type === "run.started" && "undoes" in payload),
  );
  const undoing = events.filter(({ iteration }) => isUndo(iteration));
  for (const { seq, nodeId } of undoing)
    if (begins === undefined || seq < begins.seq) report(seq, `${nodeId} is undone by a live run`);
  if (begins === undefined) return;
  const name = (nodeId: string, iteration: number): string => `${nodeId}/${iteration}`;
  const lost = new Set(letters.map(({ nodeId, iteration }) => name(nodeId, undoneBy(iteration))));
  for (const { nodeIndex, iteration, status } of state.undos.values()) {
    const own = name(state.graph.nodes[nodeIndex]?.definition.id ?? "", iteration);
    if (isFinal(state.status) && !isSettled(status)) report(state.lastSeq, `${own} is not undone`);
    const isLost = isSettled(status) && status !== "completed";
    if (isLost !== lost.has(own))
      report(state.lastSeq, `${own} is ${status} ${isLost ? "without" : "with"} a dead letter`);
  }
  checkOrder(state, undoing, report);
}

/** Of two nodes with an edge between them, the later one is undone first. Each of them ran once. */
function checkOrder(state: RunState, undoing: readonly LoggedFact[], report: Report): void {
  const first = undoOf(0);
  const ofNode = (id: string) => undoing.filter((e) => e.nodeId === id && e.iteration === first);
  for (const { source, target } of state.graph.definition.edges) {
    if (state.iterationCount > 0) return;
    const queued = ofNode(source).find(({ type }) => type === "node.queued");
    const [sourceDone, targetDone] = [source, target].map((id) =>
      [...state.undos.values()].findIndex(
        ({ nodeIndex }) => state.graph.nodes[nodeIndex]?.definition.id === id,
      ),
    );
    // A late parent of a join may complete after the join.
    if ((sourceDone ?? -1) > (targetDone ?? -1)) continue;
    const settled = ofNode(target).find(({ type }) => isSettlingType(type));
    if (queued !== undefined && settled !== undefined && settled.seq > queued.seq)
      report(queued.seq, `${source} is undone before ${target}`);
  }
}
