import { expect, test } from "vitest";
import { readGraph } from "@pawl/client";
import { foldGraph } from "./fold.ts";

const fan = (width: number) => {
  const shops = Array.from({ length: width }, (_, index) => `shop-${index + 1}`);
  return readGraph({
    nodes: ["start", ...shops, "sum"].map((id) => ({
      id,
      type: id.startsWith("shop") ? "js" : id,
    })),
    edges: shops.flatMap((id) => [
      { source: "start", target: id },
      { source: id, target: "sum" },
    ]),
  });
};
const none: ReadonlySet<string> = new Set();

test("many equal siblings are one node, with one edge in and one out", () => {
  const { nodes, edges, groups } = foldGraph(fan(200), none);
  expect(nodes.map(({ id, label, type }) => [id, label, type])).toEqual([
    ["start", "", "start"],
    ["group:shop-1", "200 × js", "shop-1 … shop-200"],
    ["sum", "", "sum"],
  ]);
  expect(edges.map(({ source, target }) => `${source}>${target}`)).toEqual([
    "start>group:shop-1",
    "group:shop-1>sum",
  ]);
  expect(groups.get("group:shop-1")).toHaveLength(200);
});

test("nodes that are looked at stay apart, and the group keeps its name", () => {
  const { nodes, edges, groups } = foldGraph(fan(200), new Set(["shop-1", "shop-7"]));
  expect(nodes.map(({ id }) => id)).toEqual(["start", "shop-1", "group:shop-1", "shop-7", "sum"]);
  expect(groups.get("group:shop-1")).toHaveLength(198);
  expect(edges.filter(({ source }) => source === "shop-7")).toHaveLength(1);
});

test("few siblings, and siblings that differ in type, source or handle, are drawn one by one", () => {
  const few = fan(8);
  expect(foldGraph(few, none)).toMatchObject({ nodes: few.nodes, edges: few.edges });
  const mixed = readGraph({
    nodes: Array.from({ length: 12 }, (_, index) => ({ id: `n${index}`, type: `t${index % 6}` })),
    edges: [],
  });
  expect(foldGraph(mixed, none).nodes).toHaveLength(12);
  const handles = readGraph({
    nodes: Array.from({ length: 12 }, (_, index) => ({ id: `n${index}`, type: "t" })),
    edges: Array.from({ length: 11 }, (_, index) => ({
      source: "n0",
      target: `n${index + 1}`,
      source_handle: `h${index}`,
    })),
  });
  expect(foldGraph(handles, none).nodes).toHaveLength(12);
});
