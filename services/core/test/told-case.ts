// One row of the tables of explanations: a run, a question, and what the answer must say and cite.

import { expect } from "vitest";
import { explainNode } from "../src/explain/explain.ts";
import { proofsOf } from "../src/explain/proofs.ts";
import type { ExplainReason } from "../src/explain/reason.ts";
import type { WaitingRoom } from "../src/explain/room.ts";
import type { ToyRun } from "./toy-run.ts";

export interface ToldCase {
  readonly title: string;
  readonly run: () => ToyRun;
  readonly node: string;
  readonly room?: (run: ToyRun) => Partial<WaitingRoom>;
  readonly reason: ExplainReason;
  readonly says: readonly string[];
  /** "seq type node" of each event cited. */
  readonly cites: readonly string[];
}

/** Asks and compares. */
export function expectTold({ run: make, node, room, reason, says, cites }: ToldCase): void {
  const run = make();
  const explanation = explainNode({
    state: run.state,
    proofs: proofsOf(run.events),
    nodeIndex: run.index(node),
    iteration: 0,
    room: { now: run.now, executors: [], leases: [], ...room?.(run) },
  });
  expect(explanation.reason).toBe(reason);
  for (const words of says) expect(explanation.summary).toContain(words);
  const evidence = explanation.evidence.map((each) => `${each.seq} ${each.type} ${each.nodeId}`);
  expect(evidence).toEqual(cites);
  expect(explanation.next).not.toBe("");
  expect(explanation.status).toBe(run.node(node).status);
}
