// Runs in memory whose nodes can be undone.

import { onCancel } from "../src/plan/stop.ts";
import type { RunEvent } from "../src/log/event.ts";
import { undoOf } from "../src/log/undo-iteration.ts";
import { sketch, startToyRun, type ToyRun } from "./toy-run.ts";

export const compensation = { type: "undo", retry: { attempts: 1 } };
export const task = (id: string, more: object = {}) => ({
  id,
  type: "task",
  compensation,
  ...more,
});
export const undo = (id: string, iteration = 0): string => `${id}#${undoOf(iteration)}`;

/** s, then a, then b and c at once, then d. All but s can be undone. */
export const diamond = () =>
  startToyRun(
    sketch(["s", task("a"), task("b"), task("c"), task("d")], ["s>a", "a>b", "a>c", "b>d", "c>d"]),
    { order: 7 },
  );

export function done(run: ToyRun, ...ids: string[]): void {
  for (const id of ids) run.complete(id, { did: id });
}

export function cancel(run: ToyRun, requestId = "", compensate?: boolean): void {
  const stop = onCancel(run.state, { reason: "not wanted", requestId, compensate, now: run.now });
  if (stop.kind === "accepted") stop.facts.forEach(run.append);
  run.plan();
}

export const queued = ({ state }: ToyRun): string[] =>
  [...state.undos.values()].flatMap((each) =>
    each.status === "queued"
      ? [`${state.graph.nodes[each.nodeIndex]?.definition.id ?? ""}#${each.iteration}`]
      : [],
  );
export const lastOf = (run: ToyRun): RunEvent | undefined => run.events.at(-1);
