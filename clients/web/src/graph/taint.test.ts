import { expect, test } from "vitest";
import { emptyNode, type NodeView } from "@pawl/core/log/view";
import { drawEdges, type Drawing, drawNodes } from "./draw.ts";
import { labelsIn } from "./taint.ts";

const node = (id: string, labels: readonly string[]): NodeView => ({
  ...emptyNode(id, 0),
  status: "completed",
  taint: labels.map((label) => ({ label, nodeId: "" })),
});

const drawn = (id: string) => ({ id, label: "", type: "http", config: "{}" });

function drawingOf(nodes: readonly NodeView[]): Drawing {
  const edges = [
    { id: "e1", source: "a", target: "b", handle: "" },
    { id: "e2", source: "b", target: "c", handle: "" },
  ];
  return {
    graph: { title: "", nodes: ["a", "b", "c"].map(drawn), edges, groups: new Map() },
    place: { nodes: new Map(), bends: new Map(), width: 1, height: 1 },
    direction: "right",
    run: { nodes: new Map(nodes.map((each) => [each.nodeId, each])), looks: new Map(), nowMs: 0 },
    openKey: "",
    foundIds: new Set(),
  };
}

test("an edge that carries labelled data has its own class and a sign, another edge has neither (S2.42)", () => {
  const drawing = drawingOf([node("a", ["web", "model"]), node("b", [])]);
  const [labelled, clean] = drawEdges(drawing);
  expect(labelled).toMatchObject({
    className: "edge-taken edge-tainted",
    label: "\u25c6",
  });
  expect(clean).toMatchObject({ className: "edge-taken" });
  expect(clean?.label).toBeUndefined();
  expect(drawNodes(drawing)[0]?.data.view?.taint).toHaveLength(2);
});

test("labels of several nodes are named once", () => {
  expect(labelsIn([node("a", ["web"]), undefined, node("b", ["web", "input"])])).toBe(
    "\u25c6 web, input",
  );
  expect(labelsIn([node("a", [])])).toBe("");
});
