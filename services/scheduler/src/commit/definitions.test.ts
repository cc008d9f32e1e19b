import { parseDefinition } from "@pawl/core/definition/parse";
import { definitionId } from "@pawl/core/name/ids";
import { createMemoryStore } from "@pawl/platform/store/memory/store";
import { expect, test } from "vitest";
import { Definitions, type DefinitionsOptions } from "./definitions.ts";
import { saveGraph } from "../tick/tick.fixture.ts";

const SMALL = { nodes: [{ id: "a", type: "start" }], edges: [] };
const [A, B, C] = [definitionId("a"), definitionId("b"), definitionId("c")];

function parse(more: object = {}) {
  const parsed = parseDefinition(JSON.stringify({ title: "t", ...SMALL, ...more }));
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.violations));
  return parsed;
}

function definitionsOf(options: DefinitionsOptions) {
  const store = createMemoryStore({ now: Date.now });
  return { store, definitions: new Definitions(store.workflows, options) };
}

test("graphs are kept up to a number; the oldest goes first", () => {
  const { definitions } = definitionsOf({ max: 2 });
  const { graph, canonicalJson } = parse();
  for (const id of [A, B, C]) definitions.keep(id, graph, canonicalJson);
  expect([A, B, C].map((id) => definitions.cached(id) !== undefined)).toEqual([false, true, true]);
});

test("graphs are kept up to a size, whatever their number, and one that is larger alone is still kept", () => {
  const { definitions } = definitionsOf({ maxBytes: 10_000 });
  const { graph, canonicalJson } = parse();
  const large = parse({ description: "x".repeat(4_000) });
  definitions.keep(A, graph, canonicalJson);
  definitions.keep(B, graph, canonicalJson);
  definitions.keep(C, large.graph, large.canonicalJson);
  expect([A, B, C].map((id) => definitions.cached(id) !== undefined)).toEqual([false, false, true]);
  definitions.keep(A, graph, canonicalJson);
  expect([A, C].map((id) => definitions.cached(id) !== undefined)).toEqual([true, false]);
});

test("keeping a graph again does not count it twice", () => {
  const { definitions } = definitionsOf({ maxBytes: 10_000 });
  const { graph, canonicalJson } = parse();
  definitions.keep(A, graph, canonicalJson);
  for (let time = 0; time < 100; time++) definitions.keep(B, graph, canonicalJson);
  expect(definitions.cached(A)).toBeDefined();
});

test("a graph that had to go is read again when it is asked for", async () => {
  const { store, definitions } = definitionsOf({ max: 1 });
  const id = definitionId(await saveGraph(store, SMALL));
  const { graph, canonicalJson } = parse();
  await definitions.graph(id);
  definitions.keep(A, graph, canonicalJson);
  expect(definitions.cached(id)).toBeUndefined();
  expect((await definitions.graph(id)).nodes).toHaveLength(1);
});
