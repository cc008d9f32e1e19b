// Counts the facts of a committed tick for telemetry. The facts are added up by kind first: a counter costs about a microsecond a call, and
// a tick may hold hundreds of facts of few kinds.

import { type Fact, isTerminalType } from "@pawl/core/log/event";
import { executionDefinition } from "@pawl/core/log/execution";
import { retryRuleOf } from "@pawl/core/fault/cause";
import { usageIn } from "@pawl/core/log/usage";
import { isSettlingType, nodeStatusAfter } from "@pawl/core/log/meaning";
import { METRICS } from "@pawl/platform/telemetry/catalogue";
import type { CachedRun } from "./cache.ts";
import type { Draft } from "./draft.ts";

class Tally {
  readonly #counts = new Map<string, number>();

  add(key: string): void {
    this.#counts.set(key, (this.#counts.get(key) ?? 0) + 1);
  }

  report(to: (key: string, count: number) => void): void {
    for (const [key, count] of this.#counts) to(key, count);
  }
}

/** Counts the facts that a tick committed. */
export function countFacts(draft: Draft): void {
  const started = new Tally();
  const retried = new Tally();
  const ended = new Map<string, Tally>();
  for (const { run, fact } of draft.facts()) {
    countUsage(fact);
    if (isTerminalType(fact.type)) countRun(run);
    else if (fact.type === "node.started") started.add(typeOf(run, fact));
    else if (fact.type === "node.retried") retried.add(retryRuleOf(fact.payload.cause));
    else if (isSettlingType(fact.type)) {
      const state = nodeStatusAfter(fact.type) ?? "";
      let tally = ended.get(state);
      if (tally === undefined) ended.set(state, (tally = new Tally()));
      tally.add(typeOf(run, fact));
      if (fact.type === "node.failed" && fact.payload.cause === "delivery_exhausted")
        METRICS.deadLetters.add(1);
    }
  }
  started.report((type, count) => METRICS.nodesStarted.add(count, { type }));
  retried.report((cause, count) => METRICS.nodeRetries.add(count, { cause }));
  for (const [state, tally] of ended)
    tally.report((type, count) => METRICS.nodesCompleted.add(count, { state, type }));
}

/** The scheduler that runs the attempt counts its usage. A node that waited for a child run repeats the usage of that run. */
function countUsage(fact: Fact): void {
  const usage = usageIn(fact);
  if (usage === undefined || usage.executions !== undefined || fact.epoch === 0) return;
  const { inputTokens, outputTokens, costMicros = 0, model = "" } = usage;
  METRICS.tokens.add(inputTokens, { model, direction: "input" });
  METRICS.tokens.add(outputTokens, { model, direction: "output" });
  if (costMicros > 0) METRICS.costMicros.add(costMicros, { model });
}

function countRun({ state: { status, startedAt, endedAt } }: CachedRun): void {
  if (endedAt === undefined) return;
  METRICS.runsFinished.add(1, { status });
  METRICS.runDuration.record((endedAt - startedAt) / 1_000, { status });
}

function typeOf({ state }: CachedRun, { nodeId, iteration }: Fact): string {
  const index = nodeId === "" ? undefined : state.graph.indexOf.get(nodeId);
  return index === undefined ? "" : executionDefinition(state, index, iteration).type;
}
