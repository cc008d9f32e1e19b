// A glue node ends the same whether the tick that makes it ready completes it, or a later tick does in any order.

import * as fc from "fast-check";
import { expect, test } from "vitest";
import { graphOf, startToyRun, type ToyRun } from "../../test/toy-run.ts";
import { checkLog } from "../log/check.ts";
import { fold } from "../log/fold.ts";
import { isFinal } from "../log/event.ts";
import { executionAt } from "../log/execution.ts";
import { inlineFacts, type InlineBudget } from "./inline.ts";

fc.configureGlobal({ seed: 1 });

const WHOLE: InlineBudget = { mayComplete: () => true, bytes: Infinity };

const configs = {
  noop: () => ({}),
  condition: (n: number) => ({ branches: [{ id: "a", when: `ctx.input.n > ${n}` }] }),
  map: (n: number) => ({ items: Array(n % 4).fill(n), parallelism: 2, body: { type: "noop" } }),
  loop: (n: number) => ({ times: n % 4, body: { type: "noop" } }),
} as const;
const types = Object.keys(configs) as (keyof typeof configs)[];

const drawnNode = fc.record({
  type: fc.constantFrom(...types),
  n: fc.nat(9),
  join: fc.constantFrom("all", "any"),
  onParentFailure: fc.constantFrom("skip", "propagate", "substitute_default"),
  parents: fc.array(fc.record({ at: fc.nat(), handle: fc.constantFrom(null, null, "a", "else") }), {
    minLength: 1,
    maxLength: 3,
  }),
});

/** A DAG of glue nodes behind a start. */
const drawnGraph = fc.array(drawnNode, { minLength: 1, maxLength: 12 }).map((drawn) => {
  const typeAt = (index: number): string =>
    index === 0 ? "start" : (drawn[index - 1]?.type ?? "");
  const nodes = drawn.map(({ type, n, join, onParentFailure }, index) => ({
    id: `n${index + 1}`,
    type,
    join,
    on_parent_failure: onParentFailure,
    config: configs[type](n),
  }));
  const edges = drawn.flatMap(({ parents }, index) =>
    parents.map(({ at, handle }) => {
      const source = at % (index + 1);
      const leaves = typeAt(source) === "condition" && handle !== null;
      return {
        source: `n${source}`,
        target: `n${index + 1}`,
        ...(leaves ? { source_handle: handle } : {}),
      };
    }),
  );
  const unique = new Map(edges.map((edge) => [JSON.stringify(edge), edge]));
  return graphOf({ nodes: [{ id: "n0", type: "start" }, ...nodes], edges: [...unique.values()] });
});

/** Completes queued glue nodes one at a time, in an order that `seed` gives. */
function completeLater(run: ToyRun, seed: number): void {
  for (let step = seed; ; step = (step * 31 + 7) >>> 0) {
    const queued = run.state.nodes.flatMap((node, index) =>
      [0, ...(node.scope?.items ?? []).map((_, at) => at + 1)]
        .filter((iteration) => executionAt(run.state, index, iteration)?.status === "queued")
        .map((iteration) => [index, iteration] as const),
    );
    const chosen = queued[step % queued.length];
    if (chosen === undefined) return;
    const facts = inlineFacts({ state: run.state, now: run.now, budget: WHOLE }, ...chosen);
    if (facts === undefined) throw new Error(`node ${chosen[0]} does not fit`);
    facts.forEach(run.append);
    run.plan();
  }
}

const meaningOf = ({ state }: ToyRun) => ({
  status: state.status,
  output: state.output,
  nodes: state.nodes.map(({ status, handle, output, attempt }) => ({
    status,
    handle,
    output,
    attempt,
  })),
});

test("glue completed at once or later, in any order, ends the same (S3.17)", () => {
  fc.assert(
    fc.property(drawnGraph, fc.nat(), fc.nat(9), (graph, seed, n) => {
      const atOnce = startToyRun(graph, { n }, { ...WHOLE });
      const later = startToyRun(graph, { n });
      completeLater(later, seed);
      expect(isFinal(atOnce.state.status)).toBe(true);
      expect(meaningOf(later)).toEqual(meaningOf(atOnce));
      for (const { events, state } of [atOnce, later]) {
        checkLog(events);
        expect(fold(state.runId, graph, events).status).toBe(state.status);
      }
    }),
    { numRuns: 400 },
  );
});
