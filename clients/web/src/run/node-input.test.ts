import { expect, test } from "vitest";
import { readGraph } from "@pawl/client";
import { nodeInput } from "../graph/definition.ts";
import { EMPTY_VIEW, emptyNode } from "@pawl/core/log/view";

const graph = readGraph({
  nodes: [{ id: "start" }, { id: "a" }, { id: "b" }, { id: "end" }],
  edges: [
    { source: "start", target: "a", source_handle: "left" },
    { source: "start", target: "b", source_handle: "right" },
    { source: "a", target: "end" },
    { source: "b", target: "end" },
  ],
});

test("a node's input is what came along the edges the run took", () => {
  const done = { status: "completed" as const, output: "7" };
  const view = {
    ...EMPTY_VIEW,
    input: '{"x":1}',
    nodes: new Map([
      ["start", { ...emptyNode("start", 0), ...done, handle: "left" }],
      ["a", { ...emptyNode("a", 0), ...done }],
      ["b", { ...emptyNode("b", 0), status: "skipped" as const }],
    ]),
  };
  expect(JSON.parse(nodeInput(graph, view, "start"))).toEqual({ x: 1 });
  expect(JSON.parse(nodeInput(graph, view, "a"))).toEqual({ start: 7 });
  expect(nodeInput(graph, view, "b")).toBe("");
  expect(JSON.parse(nodeInput(graph, view, "end"))).toEqual({ a: 7 });
});
