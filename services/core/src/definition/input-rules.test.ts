import { expect, test } from "vitest";
import { nodeJson } from "../log/node-json.ts";
import { parseDefinition, parseSavedDefinition } from "./parse.ts";

const text = (definition: unknown): string => JSON.stringify(definition, null, 2);
const faultsOf = (definition: unknown): string[] => {
  const parsed = parseDefinition(text(definition));
  return parsed.ok ? [] : parsed.violations.map(({ path, reason }) => `${path} ${reason}`);
};
const charge = (more: Readonly<Record<string, unknown>> = {}) => ({
  id: "pay",
  type: "acme.charge@2",
  ...more,
});
const price = { id: "price", type: "acme.price" };
const labelled = { source: "price", target: "pay", target_param_label: "cents" };

test("a node has an input of its own, which the executor gets as it was written", () => {
  const input = { who: "{{ctx.input.who}}", tags: ["a", 1, null] };
  const definition = { nodes: [charge({ input })] };
  const parsed = parseDefinition(text(definition));
  expect(parsed).toMatchObject({ ok: true, definition: { nodes: [{ input }] } });
  if (!parsed.ok) return;
  expect(JSON.parse(nodeJson(parsed.graph, 0, "node")).node).toMatchObject({ input });
  expect(parseSavedDefinition(parsed.canonicalJson)).toMatchObject({ ok: true });
});

test("a node without an input has none in its JSON, as before", () => {
  const parsed = parseDefinition(text({ nodes: [charge()] }));
  if (!parsed.ok) throw new Error("valid");
  expect(JSON.parse(nodeJson(parsed.graph, 0, "node")).node).not.toHaveProperty("input");
});

test("templates of an input are checked, with their place and line", () => {
  const definition = { nodes: [charge({ input: { who: ["{{ctx.input.who", "{{item.x}}"] } })] };
  const parsed = parseDefinition(text(definition));
  expect(parsed).toMatchObject({
    ok: false,
    violations: [
      {
        path: "nodes[0].input.who[0]",
        reason: "TEMPLATE_SYNTAX",
        nodeId: "pay",
        position: { line: 8, column: 11 },
      },
      { path: "nodes[0].input.who[1]", reason: "TEMPLATE_SYNTAX" },
    ],
  });
});

test("an edge adds a key to an object, and a key in both is a fault", () => {
  const nodes = (input: unknown) => [price, charge({ input })];
  expect(faultsOf({ nodes: nodes({ who: "x" }), edges: [labelled] })).toEqual([]);
  expect(faultsOf({ nodes: nodes({ cents: 1 }), edges: [labelled, labelled] })).toContain(
    "nodes[1].input.cents DUPLICATE_PARAMETER",
  );
  expect(faultsOf({ nodes: nodes("{{ctx.input}}"), edges: [labelled] })).toEqual([
    "nodes[1].input WRONG_TYPE",
  ]);
});

test("a body has an input with its item, and a type that the scheduler completes has none", () => {
  const map = (body: unknown) => ({
    nodes: [{ id: "all", type: "map", config: { items: [1], body } }],
  });
  const input = { n: "{{item}}", at: "{{index}}" };
  expect(faultsOf(map({ type: "acme.charge@2", input }))).toEqual([]);
  const parsed = parseDefinition(text(map({ type: "acme.charge@2", input })));
  if (!parsed.ok) throw new Error("valid");
  expect(JSON.parse(nodeJson(parsed.graph, 0, "body")).node).toMatchObject({ input });
  expect(faultsOf(map({ type: "noop", input }))).toEqual([
    "nodes[0].config.body.input INPUT_UNUSED",
  ]);
  expect(faultsOf({ nodes: [{ id: "s", type: "start", input: {} }] })).toEqual([
    "nodes[0].input INPUT_UNUSED",
  ]);
});

test("an iteration gets the parts of the context that its input reads, and no others", () => {
  const body = { type: "http", config: { url: "https://x" }, input: "{{ctx.nodes.a.url}}" };
  const parsed = parseDefinition(
    text({ nodes: [{ id: "all", type: "map", config: { items: [1], body } }] }),
  );
  expect(parsed.ok && parsed.definition.nodes[0]?.scope?.body.reads).toEqual({
    input: false,
    params: true,
    nodes: new Set(["a"]),
    vars: new Set(),
    memory: new Set(),
  });
});

test.each(["a@1", "acme.charge@999999", `${"x".repeat(126)}@1`])(
  "%s is the name of a node type",
  (type) => expect(faultsOf({ nodes: [{ id: "a", type }] })).toEqual([]),
);

test.each(["a@", "a@x", "@1", "a@1@2", "a@1234567", `${"x".repeat(127)}@1`])(
  "%s is not the name of a node type, and no node id has a version",
  (type) => {
    expect(faultsOf({ nodes: [{ id: "a", type }] })).toEqual(["nodes[0].type BAD_ID"]);
    expect(faultsOf({ nodes: [{ id: "a@1", type: "a" }] })).toEqual(["nodes[0].id BAD_ID"]);
  },
);
