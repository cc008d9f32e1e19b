import { expect, test } from "vitest";
import { readGraph } from "@pawl/client";
import { layoutGraph, NODE_HEIGHT, NODE_WIDTH, routeBack, routeEdge } from "./layout.ts";

const diamond = readGraph({
  nodes: ["start", "a", "b", "c", "end"].map((id) => ({ id, type: "noop" })),
  edges: [
    { source: "start", target: "a" },
    { source: "start", target: "b" },
    { source: "a", target: "c" },
    { source: "c", target: "end" },
    { source: "b", target: "end" },
    { source: "start", target: "nowhere" },
  ],
});

test("children lie to the right of their parents and no two nodes overlap", () => {
  const { nodes } = layoutGraph(diamond);
  const at = (id: string): { x: number; y: number } => nodes.get(id) ?? { x: NaN, y: NaN };
  for (const [source, target] of [
    ["start", "a"],
    ["a", "c"],
    ["c", "end"],
    ["b", "end"],
  ] as const) {
    expect(at(target).x).toBeGreaterThan(at(source).x + NODE_WIDTH);
  }
  const places = [...nodes.values()];
  const clash = places.some((one, index) =>
    places
      .slice(index + 1)
      .some(
        (other) =>
          Math.abs(one.x - other.x) < NODE_WIDTH && Math.abs(one.y - other.y) < NODE_HEIGHT,
      ),
  );
  expect(clash).toBe(false);
});

test("a node lies where it may start, not where its output is awaited", () => {
  const { nodes } = layoutGraph(diamond);
  expect(nodes.get("b")?.x).toBe(nodes.get("a")?.x);
});

test("nodes side by side stand in the order in which the definition names them", () => {
  const ids = Array.from({ length: 12 }, (_, index) => `n${index}`);
  const fan = readGraph({
    nodes: ["start", ...ids, "end"].map((id) => ({ id })),
    edges: ids.flatMap((id) => [
      { source: "start", target: id },
      { source: id, target: "end" },
    ]),
  });
  const { nodes } = layoutGraph(fan);
  const ys = ids.map((id) => nodes.get(id)?.y ?? 0);
  expect(ys).toEqual(ys.toSorted((a, b) => a - b));
});

test("the same graph is always laid out the same", () => {
  expect(layoutGraph(diamond)).toEqual(layoutGraph(diamond));
});

test("an edge passes through its bends on the way, without kinks at its ends", () => {
  const path = routeEdge(
    { x: 0, y: 0 },
    [
      { x: 10, y: 40 },
      { x: 200, y: 50 },
    ],
    { x: 400, y: 0 },
  );
  expect(path).toBe("M0,0 C100,0 100,50 200,50 C300,50 300,0 400,0");
});

test("a loop edge runs back beside its nodes, above them or to their left, and never on the edge between them", () => {
  const right = routeBack({ x: 600, y: 28 }, { x: 200, y: 28 });
  expect(right.middle.y).toBeLessThan(28 - NODE_HEIGHT / 2);
  expect(right.path.startsWith("M600,28 C628,28 ")).toBe(true);
  expect(right.path.endsWith(" 172,28 200,28")).toBe(true);
  const down = routeBack({ x: 98, y: 500 }, { x: 98, y: 100 }, "down");
  expect(down.middle.x).toBeLessThan(98 - NODE_WIDTH / 2);
  expect(down.path.endsWith(" 98,72 98,100")).toBe(true);
});

test("where there is little width the graph runs down", () => {
  const { nodes, width, height } = layoutGraph(diamond, "down");
  const y = (id: string): number => nodes.get(id)?.y ?? NaN;
  expect(y("a")).toBeGreaterThan(y("start") + NODE_HEIGHT);
  expect(y("end")).toBeGreaterThan(y("c") + NODE_HEIGHT);
  expect(height).toBeGreaterThan(width - NODE_WIDTH);
  const path = routeEdge({ x: 0, y: 0 }, [], { x: 50, y: 100 }, "down");
  expect(path).toBe("M0,0 C0,50 50,50 50,100");
});

test("a value that is no definition gives an empty graph", () => {
  expect(readGraph(undefined)).toEqual({ title: "", nodes: [], edges: [] });
  expect(readGraph("text").nodes).toEqual([]);
});
