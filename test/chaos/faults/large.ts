// F35: the inputs of nodes are so large that few of them fit into a message, while executors are killed. Nothing else is wrong with these
// runs, so none of them may fail: a delivery counts only for nodes that an executor really received.
import { graph, names, script } from "../../flow/graph.ts";
import type { Shape } from "../../stress/shape.ts";
import { oneOf, type Fault } from "../fault.ts";
import { killAndRestart } from "./kill.ts";

const READERS = 40;
const LARGE_BYTES = 250_000;

const read = script(`return ctx.nodes.big.text.length`);

const shape: Shape = {
  name: "large context",
  definition: graph(
    names("reader", READERS).map((id) => `start > big > ${id} > join`),
    {
      big: script(`return { text: "x".repeat(${LARGE_BYTES}) }`),
      ...Object.fromEntries(names("reader", READERS).map((id) => [id, read])),
    },
  ),
  acts: () => ({}),
};

export const largeContexts: Fault = {
  id: "F35",
  title: `${READERS} nodes that read ${LARGE_BYTES} bytes each, and executors killed`,
  hits: { short: 1, smoke: 2, full: 15 },
  gapMs: [1_000, 2_500],
  everyMs: 700,
  runsMost: { short: 3, smoke: 5, full: 100 },
  shapes: { prefix: "large", all: [shape] },
  strike: async ({ cluster, random }) => await killAndRestart(oneOf(cluster.executors, random)),
};
