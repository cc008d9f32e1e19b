import { expect, test } from "vitest";
import { emptyNode, type NodeView } from "@pawl/core/log/view";
import { edgeState } from "./definition.ts";
import { type DrawnEdge } from "@pawl/client";

const edge = (handle: string): DrawnEdge => ({ id: "e", source: "a", target: "b", handle });
const source = (more: Partial<NodeView>): NodeView => ({ ...emptyNode("a", 0), ...more });

test("an edge is pending until its source settles", () => {
  expect(edgeState(edge(""), undefined)).toBe("pending");
  expect(edgeState(edge(""), source({ status: "running" }))).toBe("pending");
});

test("a completed source takes the edges of its handle and leaves the others", () => {
  const left = source({ status: "completed", handle: "left" });
  expect(edgeState(edge("left"), left)).toBe("taken");
  expect(edgeState(edge("right"), left)).toBe("untaken");
  expect(edgeState(edge(""), left)).toBe("taken");
});

test("a plain edge is not followed out of a caught error, nor out of a failure", () => {
  expect(edgeState(edge(""), source({ status: "completed", handle: "error" }))).toBe("untaken");
  expect(edgeState(edge("error"), source({ status: "completed", handle: "error" }))).toBe("taken");
  expect(edgeState(edge(""), source({ status: "failed" }))).toBe("untaken");
  expect(edgeState(edge(""), source({ status: "skipped" }))).toBe("untaken");
});
