// Fifty parallel nodes of cost 1 and a budget of 10, under random orders of claims, results, failures, retries and lost claims.

import * as fc from "fast-check";
import { expect, test } from "vitest";
import { completed, failed, graphOf, startToyRun, type ToyRun } from "../../test/toy-run.ts";
import { checkLog } from "../log/check.ts";
import { isFinal } from "../log/event.ts";
import { fold } from "../log/fold.ts";
import { spentOf } from "../log/ledger.ts";
import { view } from "../log/view.ts";

fc.configureGlobal({ seed: 1 });

const WIDTH = 50;
const BUDGET = 10;
const SPENT = { usage: { inputTokens: 1, outputTokens: 0, costMicros: 1 } };

const graph = (reserve: object | undefined) =>
  graphOf({
    budget: { tokens: BUDGET },
    nodes: Array.from({ length: WIDTH }, (_, at) => ({
      ...{ id: `n${at}`, type: "task", retry: { attempts: 3, backoff_ms: 0 } },
      ...(reserve && { reserve }),
    })),
  });

type Step = "claim" | "complete" | "fail" | "lose" | "release";
const steps = fc.array(
  fc.tuple(
    fc.constantFrom<Step>("claim", "claim", "claim", "complete", "fail", "lose", "release"),
    fc.nat(),
  ),
  { minLength: 60, maxLength: 200 },
);

/** Plays the steps, then completes whatever is left. Calls `check` after each. */
function play(run: ToyRun, plan: readonly (readonly [Step, number])[], check: () => void): void {
  const named = (status: string): string[] =>
    run.state.nodes.flatMap((node, at) => (node.status === status ? [`n${at}`] : []));
  const act = (step: Step, pick: number): void => {
    const ids = named(step === "claim" ? "queued" : "running");
    const id = ids[pick % Math.max(1, ids.length)];
    if (id === undefined || isFinal(run.state.status)) return;
    if (step === "claim") run.claim(id);
    else if (step === "complete") run.report(id, completed(1, SPENT));
    else if (step === "fail") run.report(id, { ...failed(), ...SPENT });
    else run.lose(id, step === "lose" ? "lease_expired" : "released");
    check();
  };
  for (const [step, pick] of plan) act(step, pick);
  for (let left = 4 * WIDTH; left > 0 && !isFinal(run.state.status); left--) {
    act("claim", 0);
    act("complete", 0);
  }
}

const started = (run: ToyRun): number =>
  run.events.filter(({ type }) => type === "node.started").length;

test("50 parallel nodes of cost 1 and a budget of 10: never more than 10 start, in any order of claims, losses and retries (S2.21, X27)", () => {
  fc.assert(
    fc.property(steps, (plan) => {
      const run = startToyRun(graph({ tokens: 1 }));
      play(run, plan, () => {
        expect(started(run)).toBeLessThanOrEqual(BUDGET);
        const { ledger } = run.state;
        expect(spentOf(ledger).tokens + ledger.reserved.tokens).toBeLessThanOrEqual(BUDGET);
      });
      expect(run.state.status).toBe("failed");
      expect(run.state.ledger.reserved.tokens).toBe(0);
      checkLog(run.events);
      expect(view(run.events).spending.reserved).toEqual(run.state.ledger.reserved);
      const { ledger, unfunded } = fold(run.state.runId, run.state.graph, run.events);
      expect({ ledger, unfunded }).toEqual({ ledger: run.state.ledger, unfunded: [] });
    }),
    { numRuns: 300 },
  );
});

test("without a reservation the same nodes pass the budget together: the check comes after the fact (X27)", () => {
  const run = startToyRun(graph(undefined));
  play(
    run,
    Array.from({ length: WIDTH }, () => ["claim", 0] as const),
    () => undefined,
  );
  expect(started(run)).toBe(WIDTH);
  expect(run.state.status).toBe("failed");
});
