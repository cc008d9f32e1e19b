import { expect, test } from "vitest";
import type { Looks } from "../run/looks.ts";
import { findNodes } from "./definition.ts";
import { readGraph } from "@pawl/client";
import { byUrgency, tally } from "./tally.tsx";

const graph = readGraph({
  nodes: [
    { id: "workshop", label: "Close the till" },
    { id: "shop-1" },
    { id: "shop-2", label: "North" },
  ],
});

test("a node is found by any part of its id or label, its beginning first", () => {
  expect(findNodes(graph, "SHOP")).toEqual(["shop-1", "shop-2", "workshop"]);
  expect(findNodes(graph, "till")).toEqual(["workshop"]);
  expect(findNodes(graph, " nor")).toEqual(["shop-2"]);
  expect(findNodes(graph, " ")).toEqual([]);
  expect(findNodes(graph, "x")).toEqual([]);
});

test("looks are counted and listed with the most telling first", () => {
  const looks: Looks = new Map([
    ["workshop", { look: "completed", releaseAt: undefined }],
    ["shop-2", { look: "failed", releaseAt: undefined }],
  ]);
  expect(tally(graph.nodes, looks)).toEqual([
    { look: "failed", count: 1 },
    { look: "completed", count: 1 },
    { look: "pending", count: 1 },
  ]);
  expect(byUrgency(graph.nodes, looks).map(({ id }) => id)).toEqual([
    "shop-2",
    "workshop",
    "shop-1",
  ]);
});
