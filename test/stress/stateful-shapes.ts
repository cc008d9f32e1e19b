// Shapes whose runs have a state of their own: they repeat, undo their nodes, or need more than their budget.
import { names, script, type NodeText } from "../flow/graph.ts";
import type { Act } from "./expectation.ts";
import { always, failing, FAILS, mixed, never, type Shape, TASK, task } from "./shape.ts";

const ROUNDS = 4;
const undo: NodeText = { type: TASK, compensation: { type: TASK } };
const again = { source: "judge", target: "count", source_handle: "again", loop: true };
const looping = mixed(["start > count > work > judge", "judge:else > end"], {
  count: script("return { n: (ctx.count?.n ?? 0) + 1 }", { output_variable: "count" }),
  work: task,
  judge: {
    type: "condition",
    config: { branches: [{ id: "again", when: `ctx.count.n < ${ROUNDS}` }] },
  },
});
const back = { source: "work", target: "lead", loop: true };
const supervised = mixed(["start > lead", "lead:more > work", "lead:max_iterations > end"], {
  lead: {
    type: "supervisor",
    config: { routes: [{ id: "more", when: "true" }], max_iterations: ROUNDS - 1 },
  },
  work: task,
});
const round = (handle?: string): Act => ({
  ...{ kind: "completes", rounds: ROUNDS },
  ...(handle === undefined ? {} : { handle }),
});

const WIDE = names("m", 8);
const wide = mixed(
  WIDE.map((id) => `start > ${id}`),
  Object.fromEntries(WIDE.map((id) => [id, task])),
);

/** Runs that repeat, that undo their nodes, and that need more than their budget. */
export const STATEFUL: readonly Shape[] = [
  {
    name: "loop edge",
    definition: { ...looping, edges: [...looping.edges, again] },
    acts: always({ count: round(), work: round(), judge: round("else") }),
  },
  {
    name: "supervisor",
    definition: { ...supervised, edges: [...supervised.edges, back] },
    // Each round decides the nodes of both routes. In the last one the task is skipped, and in the others the end.
    acts: always({ lead: round("max_iterations"), work: round(), end: round() }),
  },
  {
    name: "compensation",
    // Every node that can be undone has completed before one fails.
    definition: mixed(
      [...names("u", 3).map((id) => `start > ${id} > join`), "join > last > bad > never"],
      {
        ...Object.fromEntries([...names("u", 3), "last"].map((id) => [id, undo])),
        bad: failing,
      },
    ),
    acts: always({ bad: FAILS }),
  },
  {
    name: "short budget",
    definition: { ...wide, budget: { node_executions: 3 } },
    acts: never,
  },
  {
    name: "budget with top-ups",
    definition: { ...wide, budget: { node_executions: 3, on_exceeded: "pause" } },
    topUp: 3,
    acts: never,
  },
];
