import { expect, test } from "vitest";
import { graphOf } from "../../test/toy-run.ts";
import { parseDefinition } from "./parse.ts";
import { awaitedSignals, isSignalName } from "./signal-config.ts";

const definition = (config: object, more: object = {}, edge: object = {}) => ({
  nodes: [
    { id: "s", type: "start" },
    { id: "w", type: "await_signal", config, ...more },
    { id: "e", type: "end" },
  ],
  edges: [
    { source: "s", target: "w" },
    { source: "w", target: "e", ...edge },
  ],
});

function faultsOf(config: object, more: object = {}, edge: object = {}) {
  const parsed = parseDefinition(JSON.stringify(definition(config, more, edge)));
  return parsed.ok ? [] : parsed.violations.map(({ path, reason }) => [path, reason]);
}

test("an await_signal has a name, and may have a timeout and a schema (S2.17, S2.19)", () => {
  expect(faultsOf({ name: "paid" })).toEqual([]);
  const whole = { name: "paid.{{ ctx.input.id }}", timeout_ms: 5, schema: { type: "object" } };
  expect(faultsOf(whole)).toEqual([]);
  expect(faultsOf({ name: "a" }, {}, { source_handle: "timeout" })).toEqual([]);
});

test.each([
  [{}, "name"],
  [{ name: "" }, "name"],
  [{ name: "a b" }, "name"],
  [{ name: "_own" }, "name"],
  [{ name: "__proto__" }, "name"],
  [{ name: "constructor" }, "name"],
  [{ name: "toString" }, "name"],
  [{ name: "{{ ctx.input" }, "name"],
  [{ name: "a", timeout_ms: 0 }, "timeout_ms"],
  [{ name: "a", timeout_ms: -1 }, "timeout_ms"],
  [{ name: "a", timeout_ms: 1.5 }, "timeout_ms"],
  [{ name: "a", timeout_ms: 366 * 24 * 3_600_000 }, "timeout_ms"],
  [{ name: "a", schema: { type: "objekt" } }, "schema"],
  [{ name: "a", schema: 7 }, "schema"],
])("the config %j is refused at %s when it is saved", (config, key) => {
  const [[path] = [""]] = faultsOf(config);
  expect(path).toContain(`nodes[1].config.${key}`);
});

test("what cannot work is refused at its place: unknown keys and handles, an output contract, a retry", () => {
  expect(faultsOf({ name: "a", deadline_ms: 5 })).toEqual([
    ["nodes[1].config.deadline_ms", "UNKNOWN_KEY"],
  ]);
  expect(faultsOf({ name: "a" }, {}, { source_handle: "approved" })).toEqual([
    ["edges[1].source_handle", "UNDECLARED_HANDLE"],
  ]);
  const contracts = { output: { type: "object" } };
  expect(faultsOf({ name: "a" }, { contracts })).toEqual([
    ["nodes[1].contracts.output", "CONTRACT_PLACE"],
  ]);
  expect(faultsOf({ name: "a" }, { retry: { attempts: 3 } })).toEqual([
    ["nodes[1].retry", "RETRY_NEVER"],
  ]);
});

test("an edge without a handle means received: a signal that never came releases nothing", () => {
  const { nodes } = graphOf(definition({ name: "a" }));
  expect(nodes[1]?.outgoing.map(({ handle }) => handle)).toEqual(["received"]);
});

test("a graph knows the signals that its runs may wait for, in nodes and in bodies", () => {
  const body = { type: "await_signal", config: { name: "b", schema: true } };
  const graph = graphOf({
    nodes: [
      { id: "w", type: "await_signal", config: { name: "a" } },
      { id: "m", type: "map", config: { items: [1], body } },
    ],
    edges: [],
  });
  expect(awaitedSignals(graph)).toEqual({
    named: new Map([
      ["a", [undefined]],
      ["b", [true]],
    ]),
    hasTemplates: false,
  });
  const { hasTemplates } = awaitedSignals(graphOf(definition({ name: "{{ ctx.input.a }}" })));
  expect(hasTemplates).toBe(true);
});

test("names of prototypes are no names of signals", () => {
  expect(["paid", "a-1.b_2"].every(isSignalName)).toBe(true);
  expect(["__proto__", "constructor", "prototype", "valueOf", ".a"].some(isSignalName)).toBe(false);
});
