import { expect, test } from "vitest";
import { LIMITS } from "../data/limits.ts";
import { parseDefinition } from "./parse.ts";

const NODES = `
nodes:
  - { id: begin, type: start }
  - { id: draft, type: noop }
  - id: judge
    type: condition
    config: { branches: [{ id: again, when: "true" }] }
  - { id: done, type: end }
edges:
  - { source: begin, target: draft }
  - { source: draft, target: judge }
  - { source: judge, target: done, source_handle: else }
`;

/** The rules that one more edge breaks, each with its line. */
function faultsOf(edge: string): unknown {
  const parsed = parseDefinition(`${NODES}  - { ${edge} }\n`);
  if (parsed.ok) return [];
  return parsed.violations.map(({ path, reason, position }) => [reason, path, position?.line]);
}

test("a loop edge leads back from a handle of its source (X13)", () => {
  expect(faultsOf("source: judge, target: draft, source_handle: again, loop: true")).toEqual([]);
  const bounded =
    "source: judge, target: draft, source_handle: again, loop: true, max_iterations: 3";
  expect(faultsOf(bounded)).toEqual([]);
  expect(faultsOf("source: judge, target: judge, source_handle: again, loop: true")).toEqual([]);
});

test("a loop edge without a handle is refused, because nothing would end it", () => {
  expect(faultsOf("source: judge, target: draft, loop: true")).toEqual([
    ["UNBOUNDED_LOOP", "edges[3]", 13],
  ]);
});

test("a loop edge that does not lead back is refused, as is one to the start or from the end", () => {
  expect(faultsOf("source: draft, target: judge, source_handle: again, loop: true")).toEqual([
    ["BAD_LOOP", "edges[3].loop", 13],
  ]);
  expect(faultsOf("source: judge, target: begin, source_handle: again, loop: true")).toEqual([
    ["START_HAS_PARENTS", "nodes[0]", 3],
  ]);
  expect(faultsOf("source: done, target: draft, source_handle: again, loop: true")).toEqual([
    ["END_HAS_CHILDREN", "nodes[3]", 8],
  ]);
});

test("a handle leads back or forward, not both", () => {
  expect(faultsOf("source: judge, target: draft, source_handle: else, loop: true")).toEqual([
    ["BAD_LOOP", "edges[3].source_handle", 13],
  ]);
});

test("max_iterations is a whole number from 1, of a loop edge, a node or the workflow (S2.10)", () => {
  const edge = "source: judge, target: draft, source_handle: again";
  expect(faultsOf(`${edge}, loop: true, max_iterations: 0`)).toEqual([
    ["OUT_OF_RANGE", "edges[3].max_iterations", 13],
  ]);
  expect(faultsOf("source: begin, target: done, max_iterations: 3")).toEqual([
    ["NOT_A_LOOP", "edges[3].max_iterations", 13],
  ]);
  const parsed = parseDefinition(`max_iterations: ${LIMITS.iterationsMax + 1}\n${NODES}`);
  expect(parsed.ok).toBe(false);
});

test("a cycle without a loop edge is refused, and the message says how to write a loop", () => {
  const parsed = parseDefinition(
    `${NODES}  - { source: judge, target: draft, source_handle: again }\n`,
  );
  expect(parsed.ok ? [] : parsed.violations).toMatchObject([
    { reason: "CYCLE", message: expect.stringContaining("loop: true") },
  ]);
});

test("a definition has a bounded number of loop edges", () => {
  const nodes = [{ id: "a", type: "noop" }];
  const edges = Array.from({ length: LIMITS.loopEdges + 1 }, (_, at) => ({
    ...{ source: "a", target: "a", source_handle: `h${at}`, loop: true },
  }));
  const parsed = parseDefinition(JSON.stringify({ nodes, edges }));
  expect(parsed.ok ? [] : parsed.violations).toMatchObject([{ reason: "TOO_MANY_LOOPS" }]);
});
