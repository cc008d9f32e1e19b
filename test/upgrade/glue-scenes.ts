// Runs that the old build left while an executor held a node that acts on nothing outside, or while such a node was queued. A later
// build may complete such nodes without an executor, and must still end these.

import { graph, script } from "../flow/graph.ts";
import { check, completed, running, type Scene, working } from "./scene.ts";

const ONE = script("return 1");
const body = { type: "javascript", config: { code: "return 1" } };

export const GLUE: readonly Scene[] = [
  {
    name: "glue-condition",
    definition: working(ONE, ["start > check:yes > work > end"], { check }),
    left: running({ check: "running" }),
    ends: completed(1),
  },
  {
    name: "glue-delay",
    definition: working(ONE, ["start > wait > work > end"], {
      wait: { type: "delay", config: { delay_ms: 1 } },
    }),
    left: running({ wait: "running" }),
    ends: completed(1),
  },
  {
    name: "glue-noop",
    definition: working({ type: "noop" }),
    left: running({ work: "running" }),
    ends: { status: "completed" },
  },
  {
    name: "glue-map",
    definition: working({ type: "map", config: { items: [1, 2], body } }),
    left: running({ work: "running" }),
    ends: completed([1, 1]),
  },
  {
    name: "glue-loop",
    definition: working({ type: "loop", config: { times: 2, body } }),
    left: running({ work: "running" }),
    ends: completed([1, 1]),
  },
  {
    name: "glue-end",
    definition: graph(["start > end"], {
      end: { config: { output_parameters: { result: "{{ ctx.input.scene }}" } } },
    }),
    left: running({ end: "running" }),
    ends: completed("glue-end"),
  },
  {
    name: "glue-start",
    definition: working(ONE),
    left: running({ start: "running" }),
    ends: completed(1),
  },
  {
    name: "glue-queued",
    definition: working(ONE),
    left: running({ start: "queued" }),
    ends: completed(1),
  },
];
