// Shapes whose runs have a state of their own: they repeat, undo their nodes, or need more than their budget.
import { names, script, type NodeText } from "../flow/graph.ts";
import type { Json } from "@pawl/client";
import type { Act } from "./expectation.ts";
import {
  always,
  failing,
  FAILS,
  mixed,
  never,
  SAID,
  type Shape,
  TASK,
  task,
  undo,
} from "./shape.ts";

type JsonObject = { readonly [key: string]: Json };

const ROUNDS = 4;
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

const call = (name: string, args: JsonObject = {}): JsonObject => ({ name, arguments: args });
/** Two turns with calls of tasks, a child run and the memory, and a third one that repeats the last results. */
const turns = [
  { calls: [call("work", { n: 1 }), call("work", { n: 2 }), call("errand", { n: 3 })] },
  { calls: [call("save_to_memory", { values: { total: 3 } }), call("work", { n: 4 })] },
  { text: "{results}" },
];
const agent: NodeText = {
  type: "agent",
  config: {
    model: "offline/script",
    prompt: JSON.stringify(turns),
    tools: [
      { name: "work", type: TASK },
      { name: "errand", workflow: "stress-errand" },
      "save_to_memory",
    ],
  },
};
const told: NodeText = {
  type: "end",
  config: {
    output_parameters: {
      told: "{{ ctx.nodes.agent.turns }} turns, {{ ctx.nodes.agent.tool_calls }} calls, {{ ctx.memory.total }} kept: {{ ctx.nodes.agent.text }}",
    },
  },
};

const WIDE = names("m", 8);
const wide = mixed(
  WIDE.map((id) => `start > ${id}`),
  Object.fromEntries(WIDE.map((id) => [id, task])),
);

/** Runs that repeat, that call tools, that undo their nodes, and that need more than their budget. */
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
    name: "goto",
    // The task names a node in each round: three times an earlier one, and at last one past `between`.
    definition: mixed(["start > work > jump > between > end"], {
      work: task,
      jump: { type: TASK, config: { jump: { back: "work", times: ROUNDS - 1, ahead: "end" } } },
      between: task,
    }),
    acts: always({ work: round(), jump: { kind: "completes", rounds: ROUNDS, leadsTo: "end" } }),
  },
  {
    name: "agent",
    definition: mixed(["start > agent > end"], { agent, end: told }),
    children: { "stress-errand": mixed(["start > a > b"]) },
    acts: always({ agent: { kind: "completes", iterations: 8 } }),
    calls: [2, 3, 7],
    output: {
      told: `3 turns, 5 calls, 3 kept: ${JSON.stringify(['{"total":3}', JSON.stringify(SAID)])}`,
    },
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
