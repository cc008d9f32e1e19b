// Workflows about untrusted data for tests, in few words.

import { onDecision, type DecisionArrival } from "../src/plan/decide.ts";
import { graphOf, startToyRun, type ToyRun } from "./toy-run.ts";

const GLUE = { mayComplete: () => true, bytes: Infinity };

export const http = (id: string, more: object = {}) => ({
  id,
  type: "http",
  config: { url: "https://example.org" },
  ...more,
});
export const pay = (more: object = {}) => ({ id: "pay", type: "acme.pay", ...more });
export const edge = (source: string, target: string, more: object = {}) => ({
  source,
  target,
  ...more,
});
export const policy = (action: "deny" | "hold", more: object = {}) => ({
  action,
  types: ["acme.pay"],
  if_tainted_by: ["web"],
  message: "payments need trusted data",
  ...more,
});

export const start = (definition: object, taint?: { label: string; nodeId: "" }[]): ToyRun =>
  startToyRun(graphOf(definition), { name: "Ada" }, { ...GLUE }, [], taint);

/** A person decides about the node that waits. */
export function decide(run: ToyRun, decision: "approve" | "reject", comment: string, id = "pay") {
  const place = { nodeIndex: run.index(id), iteration: 0, now: run.now };
  const arrival: DecisionArrival = {
    ...place,
    decision,
    comment,
    requestId: "r",
    decidedBy: "ada",
  };
  const result = onDecision(run.state, arrival);
  if (result.kind === "accepted") result.facts.forEach(run.append);
  run.plan();
  return result.kind;
}
