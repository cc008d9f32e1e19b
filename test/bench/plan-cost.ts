// The planner's cost per result must not depend on the size of the graph: a chain of 100 and one of 10,000 nodes, each
// completed node by node.

import { parseDefinition } from "@pawl/core/definition/parse";
import type { Fact } from "@pawl/core/log/event";
import { apply, newRunState } from "@pawl/core/log/fold";
import { nodeId, runId, type ExecutorId } from "@pawl/core/name/ids";
import { claimFact } from "@pawl/core/plan/claim";
import { RUN_PLACE } from "@pawl/core/plan/place";
import { planToFixpoint } from "@pawl/core/plan/plan";
import { onOutcome } from "@pawl/core/plan/arrive";
import { median, type Report } from "./report.ts";
import { chainOf } from "./shapes.ts";

const SIZES = [100, 1_000, 10_000] as const;
const FLAT_MAX = 2;

export function planCost(report: Report): void {
  microsecondsPerResult(1_000); // Warms up.
  const costs = SIZES.map((size) => ({ size, microseconds: microsecondsPerResult(size) }));
  const first = costs[0]?.microseconds ?? 1;
  for (const { size, microseconds } of costs) {
    const ratio = microseconds / first;
    report.add({
      bench: "plan",
      metric: `per result, chain of ${size}`,
      value: microseconds,
      unit: "µs",
      ratio,
      floor: `≤ ${FLAT_MAX} ×`,
      reached: ratio <= FLAT_MAX,
    });
  }
}

/** Results timed per repeat, in the middle of the chain: building a large state and its garbage are not the planner's. */
const WINDOW = 50;
const REPEATS = 40;

/** The cost of a result in a chain of `size` nodes, whose run has so many keys in its memory. */
export function microsecondsPerResult(size: number, memoryKeys = 0): number {
  const parsed = parseDefinition(JSON.stringify({ title: "plan", ...chainOf(size - 1) }));
  if (!parsed.ok) throw new Error("the bench's own graph is invalid");
  const { graph } = parsed;
  const from = (size - WINDOW) / 2;
  const times = Array.from({ length: REPEATS }, () => {
    const settle = begin(graph, memoryKeys);
    // The first node is `start`.
    for (let nodeIndex = 1; nodeIndex < from; nodeIndex++) settle(nodeIndex);
    const began = performance.now();
    for (let nodeIndex = from; nodeIndex < from + WINDOW; nodeIndex++) settle(nodeIndex);
    return ((performance.now() - began) * 1_000) / WINDOW;
  });
  return median(times);
}

/** Starts a run of the graph, up to its first step; the function it gives completes one node and plans what follows. */
function begin(
  graph: Parameters<typeof newRunState>[1],
  memoryKeys: number,
): (nodeIndex: number) => void {
  const state = newRunState(runId("00000000-0000-7000-8000-000000000000"), graph);
  const executorId = "bench" as ExecutorId;
  for (let key = 0; key < memoryKeys; key++)
    state.memory.set(`k${key}`, { json: "1", bytes: 1, seq: 1, nodeId: nodeId("start") });
  const append = (fact: Fact): void => {
    const seq = state.lastSeq + 1;
    apply(state, { ...fact, epoch: fact.type === "node.started" ? seq : fact.epoch, seq, at: 0 });
  };
  const payload = {
    definitionDigest: "",
    workflowVersion: 1,
    kind: "saved",
    deadlineAt: 1,
  } as const;
  append({ ...RUN_PLACE, type: "run.started", payload, value: "null" });
  planToFixpoint(state, 0, append);
  const settle = (nodeIndex: number): void => {
    const claim = claimFact(state, nodeIndex, 0, executorId);
    if (claim === undefined) throw new Error("a node of a chain was not ready in turn");
    append(claim);
    const epoch = state.nodes[nodeIndex]?.epoch ?? 0;
    const outcome = { kind: "completed", outputJson: "{}", durationMs: 0 } as const;
    const result = onOutcome(state, {
      nodeIndex,
      iteration: 0,
      epoch,
      executorId,
      outcome,
      jitter: 0,
      now: 0,
    });
    if (result.kind === "accepted") for (const fact of result.facts) append(fact);
    planToFixpoint(state, 0, append);
  };
  // The planner may have completed `start` by itself.
  if (state.nodes[0]?.status === "queued") settle(0);
  return settle;
}
