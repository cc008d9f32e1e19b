// Runs with memory, rounds, agents, budgets, threads and compensations: builds before the state of runs could not leave them.

import { graph, type NodeText, broken, script } from "../flow/graph.ts";
import {
  BY_NEW,
  completed,
  HELD,
  LONG_MS,
  running,
  type Scene,
  task,
  TASK,
  working,
} from "./scene.ts";

const remember: NodeText = { type: "remember", config: { values: { stage: "new" } } };
const count = script("return (ctx.memory.rounds ?? 0) + 1", {
  write_key: "rounds",
  read_keys: ["rounds"],
});
const again: NodeText = {
  type: "condition",
  config: { branches: [{ id: "again", when: "ctx.memory.rounds < 3" }] },
};
const rounds = graph(["start > note > count > judge:else > work > end"], {
  note: remember,
  count,
  judge: again,
  work: HELD,
  end: {
    config: {
      output_parameters: {
        result: "{{ ctx.nodes.work }}",
        rounds: "{{ ctx.memory.rounds }}",
        stage: "{{ ctx.memory.stage }}",
      },
    },
  },
});
const turns = [{ calls: [{ name: "hold", arguments: {} }] }, { text: "done" }];
const tool = {
  name: "hold",
  description: "Holds.",
  type: TASK,
  config: { hold_from: 0 },
  input_schema: { type: "object" },
};
const agent: NodeText = {
  type: "agent",
  config: { model: "offline/script", prompt: JSON.stringify(turns), tools: [tool] },
};
const inLine = { threadId: "talk", createThread: true, multitask: "enqueue" } as const;

/** Left alive; a scheduler and executors are all they need. */
export const STATE: readonly Scene[] = [
  {
    name: "rounds",
    definition: {
      ...rounds,
      edges: [
        ...rounds.edges,
        { source: "judge", target: "count", source_handle: "again", loop: true },
      ],
    },
    left: { ...running({ "count#2": "completed", work: "running" }), event: "node.invalidated" },
    ends: { status: "completed", output: { result: BY_NEW, rounds: 3, stage: "new" } },
  },
  {
    name: "agent",
    definition: graph(["start > work > end"], { work: agent }),
    left: running({ "work#2": "running" }),
    ends: { status: "completed" },
  },
  {
    name: "half-undone",
    definition: graph(["start > first > second > work > end"], {
      first: task({}, { compensation: { type: TASK, config: { hold_from: 0 } } }),
      second: task({}, { compensation: { type: TASK, config: {} } }),
      work: broken(),
    }),
    left: { status: "compensating" },
    ends: { status: "failed", nodes: { work: "failed" } },
  },
  {
    name: "thread-holder",
    definition: working(HELD),
    options: inLine,
    left: running({ work: "running" }),
    ends: completed(BY_NEW),
  },
  {
    name: "thread-queued",
    definition: working(script("return 1")),
    options: inLine,
    left: { status: "pending" },
    ends: completed(1),
  },
  {
    name: "later",
    definition: working(script("return 1")),
    options: { afterMs: LONG_MS },
    left: { status: "pending" },
    ends: completed(1),
  },
];

/** Left alive; each needs a person: a signal, a top-up. */
export const STATE_WAITING = {
  signal: {
    name: "signal",
    definition: graph(["start > work > end"], {
      work: { type: "await_signal", config: { name: "go" } },
    }),
    left: { status: "waiting", nodes: { work: "waiting" } },
    ends: { status: "completed" },
  },
  budget: {
    name: "budget",
    definition: {
      ...graph(["start > one > two"], { one: script("return 1"), two: script("return 2") }),
      budget: { node_executions: 1, on_exceeded: "pause" },
    },
    left: { status: "paused" },
    ends: { status: "completed" },
  },
} satisfies Readonly<Record<string, Scene>>;
