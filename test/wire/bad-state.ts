// Definitions whose state breaks one rule each: budgets, loops, the memory, compensations and policies (rows D, J and T of the catalogue
// of bad inputs).
import { type BadDefinition, edge, noop, type Part, second } from "./bad-definition.ts";

const whole = (more: Part, nodes: readonly Part[] = [noop("a")]): string =>
  JSON.stringify({
    ...more,
    nodes: [{ id: "start", type: "start" }, ...nodes],
    edges: [edge("start", "a")],
  });
const row = (
  name: string,
  what: string,
  text: string,
  [path, rule]: readonly [path: string, rule: string],
): BadDefinition => ({ row: name, what, text, path, rule });

const BUDGETS = [-1, 0, 1.5, "9"].map((tokens) =>
  row("J9", `a budget of ${JSON.stringify(tokens)} tokens`, whole({ budget: { tokens } }), [
    "budget.tokens",
    Number.isInteger(tokens) ? "OUT_OF_RANGE" : "WRONG_TYPE",
  ]),
);

const back = (more: Part): string =>
  JSON.stringify({
    nodes: [{ id: "start", type: "start" }, noop("a"), noop("b")],
    edges: [edge("start", "a"), edge("a", "b"), edge("b", "a", { loop: true, ...more })],
  });

const KEYS = ["__proto__", "constructor", "a.b"].map((key) =>
  row("T1", `a key of the memory called ${key}`, second({ type: "noop", write_key: key }), [
    "nodes[1].write_key",
    "BAD_MEMORY_KEY",
  ]),
);

/** All of them. */
export const BAD_STATE: readonly BadDefinition[] = [
  ...BUDGETS,
  ...KEYS,
  row("D2", "a loop without an end", back({}), ["edges[2]", "UNBOUNDED_LOOP"]),
  row("D16", "a loop of no rounds", back({ source_handle: "again", max_iterations: 0 }), [
    "edges[2].max_iterations",
    "OUT_OF_RANGE",
  ]),
  row(
    "T1",
    "a template that reads a prototype of the memory",
    second({ type: "text_stream", config: { text: "{{ ctx.memory.__proto__ }}" } }),
    ["nodes[1].config.text", "RESERVED_KEY"],
  ),
  row("D18", "a compensation of glue", second({ type: "noop", compensation: { type: "http" } }), [
    "nodes[1].compensation",
    "NOTHING_TO_UNDO",
  ]),
  row(
    "D4",
    "a policy about a node that is not there",
    whole({ policies: [{ action: "deny", nodes: ["ghost"], if_tainted_by: ["web"] }] }),
    ["policies[0].nodes[0]", "UNKNOWN_NODE"],
  ),
];
