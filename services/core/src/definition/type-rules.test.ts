import { expect, test } from "vitest";
import type { TypeSchemas } from "./known-types.ts";
import { parseDefinition } from "./parse.ts";
import { checkTypes } from "./type-rules.ts";

const text = { type: "string" };
const number = { type: "number" };
const object = (properties: Readonly<Record<string, unknown>>) => ({
  type: "object",
  properties,
  required: Object.keys(properties),
  additionalProperties: false,
});
const none: TypeSchemas = { input: null, output: null, config: null };

const TYPES = {
  "acme.price": {
    ...none,
    output: object({
      total: number,
      label: text,
      lines: { type: "array", items: object({ sku: text }) },
    }),
    config: object({ currency: { enum: ["EUR", "USD"] } }),
  },
  "acme.letter": {
    ...none,
    input: object({ amount: number, name: text }),
  },
};

/** The lines of what is wrong: kind, line, path and message. */
function told(definition: string): string[] {
  const names = Object.keys(TYPES);
  const types = {
    served: new Set([...names, "http", "map", "noop"]),
    registered: new Set(names),
    schemas: new Map(Object.entries(TYPES)),
  };
  const parsed = parseDefinition(definition, { types });
  const list = parsed.ok ? parsed.warnings : parsed.violations;
  return list.map(
    ({ path, message, position }) =>
      `${parsed.ok ? "warning" : "error"} ${position?.line} ${path}: ${message}`,
  );
}

const flow = (letter: string, edge = "", price = "config: { currency: EUR }") => `nodes:
  - { id: price, type: acme.price, ${price} }
  - { id: letter, type: acme.letter${letter} }
edges:
  - { source: price, target: letter${edge} }
`;

test("a config without templates is checked against the schema of its type, at its line", () => {
  const wrong = told(flow("", "", "config: { currency: GBP, rate: 2 }"));
  expect(wrong).toEqual(
    expect.arrayContaining([
      'error 2 nodes[0].config.currency: does not fit the config of acme.price: currency is "GBP", expected "EUR", "USD"',
      "error 2 nodes[0].config.rate: does not fit the config of acme.price: rate is not allowed: the target has no such property",
    ]),
  );
  const isOpen = told(flow("", "", 'config: { currency: "{{ctx.input.currency}}" }'));
  expect(isOpen.filter((line) => line.includes("currency"))).toEqual([]);
});

test("a labelled edge brings the output of its source into the input of its target", () => {
  const missing = "is missing, but is required";
  expect(told(flow("", ", source_output_key: label, target_param_label: amount"))).toEqual([
    `error 3 nodes[1]: does not fit the input of acme.letter: name ${missing}`,
    "error 5 edges[0].target_param_label: does not fit the input of acme.letter: amount is string, expected number",
  ]);
  expect(told(flow("", ", source_output_key: totl, target_param_label: amount"))).toEqual([
    "error 5 edges[0].source_output_key: the output of price (acme.price) has no totl; did you mean total?",
    `error 3 nodes[1]: does not fit the input of acme.letter: name ${missing}`,
  ]);
});

test("a template of a config that names a value that its source does not have is an error", () => {
  const reading = (path: string) => `nodes:
  - { id: price, type: acme.price, config: { currency: EUR } }
  - { id: tell, type: http, config: { url: "https://example.com/{{ctx.nodes.price.${path}}}" } }
edges:
  - { source: price, target: tell }
`;
  expect(told(reading("lines[0].sku"))).toEqual([]);
  expect(told(reading("lines[0].sko"))).toEqual([
    "error 3 nodes[1].config.url: the output of price (acme.price) has no sko; did you mean sku?",
  ]);
});

test("what an error edge, a default or a merge may change is not known, and no error", () => {
  const label = ", source_output_key: label, target_param_label: amount";
  const substituted = told(flow(", on_parent_failure: substitute_default", label));
  expect(substituted.filter((line) => line.includes("amount"))).toEqual([]);
  const failing = told(flow("", `${label}, source_handle: error`));
  expect(failing.filter((line) => line.includes("amount"))).toEqual([]);
});

test("a node without parents gets the input of the run, which is known if the workflow has a schema for it", () => {
  const alone = "nodes:\n  - { id: letter, type: acme.letter }\n";
  expect(told(alone)).toEqual([]);
  const schema = (amount: string) =>
    `input_schema: { type: object, required: [amount, name], properties: { amount: { type: ${amount} }, name: { type: string } } }\n`;
  expect(told(schema("number") + alone)).toEqual([]);
  expect(told(schema("boolean") + alone)).toEqual([
    "error 3 nodes[0]: does not fit the input of acme.letter: amount is boolean, expected number",
  ]);
  const reading = (path: string) =>
    `nodes:\n  - { id: a, type: http, config: { url: "https://example.com/{{ctx.input.${path}}}" } }\n`;
  expect(told(schema("number") + reading("name"))).toEqual([]);
  expect(told(schema("number") + reading("nmae"))).toEqual([
    "error 3 nodes[0].config.url: the input of the run has no nmae; did you mean name?",
  ]);
});

/** The misfits of the letter's input, of which the rules read the raw node. */
function misfits(input: unknown, edge: object = {}): string[] {
  const found: string[] = [];
  const report = (path: string, _reason: string, message: string): void =>
    void found.push(`${path}: ${message.replace("does not fit the input of acme.letter: ", "")}`);
  const nodes = [
    { id: "price", type: "acme.price", config: { currency: "EUR" } },
    { id: "letter", type: "acme.letter", input },
  ];
  const raw = { nodes, edges: [{ source: "price", target: "letter", ...edge }] };
  checkTypes(raw, new Map(Object.entries(TYPES)), { error: report, warning: report });
  return found;
}

test("the input of a node is checked with its templates, typed across nodes, and with the parameters of edges", () => {
  expect(misfits({ amount: "{{ctx.nodes.price.total}}", name: "Ada" })).toEqual([]);
  const edge = { source_output_key: "label", target_param_label: "name" };
  expect(misfits({ amount: 3 }, edge)).toEqual([]);
  expect(misfits({ amount: "about {{ctx.nodes.price.total}}", name: 5 })).toEqual([
    "nodes[1].input.amount: amount is string, expected number",
    "nodes[1].input.name: name is integer, expected string",
  ]);
  expect(misfits({ amount: "{{ctx.nodes.price.label}}", name: "{{ctx.input.name}}" })).toEqual([
    "nodes[1].input.amount: amount is string, expected number",
  ]);
});

/** A map over `items` whose body is a letter; the last line of the flow is the edge. */
const mapped = (items: string, input: string, more = "") => `nodes:
  - { id: price, type: acme.price, config: { currency: EUR } }
  - id: letters
    type: map
    config:
      items: ${items}
      body: { type: acme.letter, input: ${input}${more} }
edges:
  - { source: price, target: letters }
`;
const INPUT = "does not fit the input of acme.letter:";

test("literal items of a map are compared with the input of its body, each at its own line", () => {
  const items = (second: string) => `\n        - { a: 1, n: Ada }\n        - ${second}`;
  const input = '{ amount: "{{item.a}}", name: "{{ctx.item.n}}" }';
  expect(told(mapped(items("{ a: 2, n: Eve }"), input))).toEqual([]);
  expect(told(mapped(items("{ a: two, n: 7 }"), input))).toEqual([
    `error 8 nodes[1].config.items[1]: ${INPUT} amount is string, expected number`,
    `error 8 nodes[1].config.items[1]: ${INPUT} name is integer, expected string`,
  ]);
  expect(told(mapped(items("{ n: Eve }"), input))).toEqual([
    "error 8 nodes[1].config.items[1]: this item has no a; it has n",
  ]);
});

test("a body that does not fit by itself is one error, however many items there are", () => {
  expect(told(mapped("[1, 2, 3]", '{ amount: "{{item}}" }'))).toEqual([
    `error 7 nodes[1].config.body.input.name: ${INPUT} name is missing, but is required`,
  ]);
  expect(told(mapped("[1, 2, 3]", '{ amount: "{{item}}", name: 5 }'))).toEqual([
    `error 7 nodes[1].config.body.input.name: ${INPUT} name is integer, expected string`,
  ]);
});

test("the items of a list that a lone template names have the type of that list", () => {
  const lines = '"{{ ctx.nodes.price.lines }}"';
  expect(told(mapped(lines, '{ amount: "{{index}}", name: "{{item.sku}}" }'))).toEqual([]);
  expect(told(mapped(lines, '{ amount: "{{item.sku}}", name: x }'))).toEqual([
    `error 7 nodes[1].config.body.input.amount: ${INPUT} amount is string, expected number`,
  ]);
  expect(told(mapped(lines, '{ amount: 1, name: "{{item.sko}}" }'))).toEqual([
    "error 7 nodes[1].config.body.input.name: an item has no sko; did you mean sku?",
  ]);
});

test("a value that is no list cannot be the items of a map", () => {
  expect(told(mapped('"{{ctx.nodes.price.total}}"', '{ amount: 1, name: "{{item}}" }'))).toEqual([
    "error 6 nodes[1].config.items: does not fit the items of a map: it is number, expected array",
  ]);
});

test("items, or a part of an item, that is not known is no error", () => {
  const input = '{ amount: "{{item.a}}", name: "{{item.n}}" }';
  expect(told(mapped('"{{ctx.input.list}}"', input))).toEqual([]);
  expect(told(mapped('[{ a: "{{ctx.input.a}}", n: "{{ctx.input.n}}" }]', input))).toEqual([]);
  const substituted = mapped("[{}]", input).replace(
    "type: map",
    "$&\n    on_parent_failure: substitute_default",
  );
  expect(told(substituted)).toEqual([]);
});

test("the body of a loop that counts gets numbers, and what it made before is not known", () => {
  const loop = (input: string) =>
    mapped("[]", input).replace("type: map", "type: loop").replace("items: []", "times: 3");
  expect(told(loop('{ amount: "{{item}}", name: "{{previous.name}}" }'))).toEqual([]);
  expect(told(loop('{ amount: 1, name: "{{item}}" }'))).toEqual([
    `error 7 nodes[1].config.body.input.name: ${INPUT} name is integer, expected string`,
  ]);
});

test("a body without an input gets the parameters that edges bind", () => {
  const bound = mapped("[1]", "{}").replace(", input: {}", "");
  const label = "target: letters, source_output_key: label, target_param_label: amount";
  expect(told(bound.replace("target: letters", label))).toEqual([
    `error 7 nodes[1].config.body: ${INPUT} name is missing, but is required`,
    `error 9 edges[0].target_param_label: ${INPUT} amount is string, expected number`,
  ]);
});

test("ten thousand items and a large body are read in bounded time", () => {
  const letter = { type: "acme.letter", input: { amount: "{{item}}", name: "n".repeat(100_000) } };
  const items = Array.from({ length: 10_000 }, (_, index) => index);
  const node = { id: "letters", type: "map", config: { items, body: letter } };
  expect(told(JSON.stringify({ nodes: [node] }))).toEqual([]);
});
