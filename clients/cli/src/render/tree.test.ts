import { expect, test } from "vitest";
import { treeRows } from "./tree.ts";

function setup(edges: readonly (readonly [string, string])[], alone: readonly string[] = []) {
  const ids = [...new Set([...edges.flat(), ...alone])];
  const rows = treeRows({
    nodes: ids.map((id) => ({ id, type: "javascript" })),
    edges: edges.map(([source, target]) => ({ source, target })),
  });
  return rows.map((row) => row.prefix + row.label);
}

test("a chain goes straight down", () => {
  expect(
    setup([
      ["a", "b"],
      ["b", "c"],
    ]),
  ).toEqual(["a", "b", "c"]);
});

test("a fork indents its branches and the join comes back to its level", () => {
  const drawn = setup([
    ["start", "a"],
    ["start", "b"],
    ["a", "a2"],
    ["a2", "join"],
    ["b", "join"],
    ["join", "end"],
  ]);
  expect(drawn).toEqual(["start", "├─ a", "│  a2", "└─ b", "join", "end"]);
});

test("a fork within a branch closes within it", () => {
  const drawn = setup([
    ["s", "a"],
    ["s", "b"],
    ["a", "x"],
    ["a", "y"],
    ["x", "j"],
    ["y", "j"],
  ]);
  expect(drawn).toEqual(["s", "├─ a", "│  ├─ x", "│  └─ y", "│  j", "└─ b"]);
});

test("every node is drawn once, a chain of thousands included", () => {
  const edges = Array.from({ length: 5000 }, (_, at) => [`n${at}`, `n${at + 1}`] as const);
  const drawn = setup(edges);
  expect(drawn).toHaveLength(5001);
  expect(new Set(drawn).size).toBe(5001);
});

test("a definition that cannot be read gives no rows", () => {
  expect(treeRows(undefined)).toEqual([]);
  expect(treeRows({ nodes: "no" })).toEqual([]);
});
