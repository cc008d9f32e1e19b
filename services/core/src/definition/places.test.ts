import { expect, test } from "vitest";
import { definitionError } from "./error.ts";
import { parseDefinition } from "./parse.ts";

/** `line:column node path REASON` of every violation, or of every warning. */
function toldOf(text: string, served?: readonly string[]): string[] {
  const types = { registered: new Set<string>(), schemas: new Map() };
  const parsed = parseDefinition(text, {
    types: served && { ...types, served: new Set(served) },
  });
  const told = parsed.ok ? parsed.warnings : parsed.violations;
  return told.map(({ position: at, nodeId, path, reason }) =>
    [`${at?.line}:${at?.column}`, nodeId, path, reason].filter((word) => word !== "").join(" "),
  );
}

const messageOf = (text: string): string => {
  const parsed = parseDefinition(text);
  return parsed.ok ? "" : definitionError(parsed.violations).message;
};

const YAML = `id: demo
nodes:
  - { id: s, type: start }
  - id: price
    type: javascript
    config:
      code: "return {"
      colour: red
  - id: call
    type: http
    config: {}
edges:
  - { source: s, target: gone }
`;

test("every violation of YAML has the line and the column of what it is about, and the node's id", () => {
  expect(toldOf(YAML)).toEqual([
    "13:18 edges[0].target DANGLING_EDGE",
    "7:7 price nodes[1].config.code JS_SYNTAX",
    "8:7 price nodes[1].config.colour UNKNOWN_KEY",
    // A missing key is reported at the place where it is missing.
    "11:5 call nodes[2].config.url REQUIRED",
  ]);
  expect(messageOf(YAML)).toMatch(
    /^line 13, column 18: edges\[0\]\.target: there is no node gone \(and 3 more\)$/,
  );
});

test("so has every violation of JSON", () => {
  const json = `{
  "id": "demo",
  "nodes": [
    { "id": "s", "type": "start" },
    { "id": "price", "type": "javascript",
      "config": { "code": "return {", "a\\u0062": [1, { "x": "}" }] } },
    { "id": "call", "type": "http" }
  ],
  "edges": [{ "source": "s", "target": "gone" }]
}`;
  expect(toldOf(json)).toEqual([
    "9:30 edges[0].target DANGLING_EDGE",
    "6:19 price nodes[1].config.code JS_SYNTAX",
    "6:39 price nodes[1].config.ab UNKNOWN_KEY",
    "7:5 call nodes[2].config.url REQUIRED",
  ]);
});

test("the error of a call names line, column and node in every description", () => {
  const parsed = parseDefinition(YAML);
  const error = parsed.ok ? undefined : definitionError(parsed.violations);
  expect(error?.violations?.[2]).toMatchObject({
    field: "definition.nodes[1].config.colour",
    description: "line 8, column 7, node price: colour is not a key here; check its spelling",
  });
});

test.each([
  ["nodes:\n  - id: s\n     type: start\n", "2:9", "`- id: s`"],
  ["nodes:\n  - { id: s\nedges: []\n", "3:1", "`edges: []`"],
  ['{\n  "nodes": [\n    {"id": "s",}\n  ]\n}', "3:16", '`{"id": "s",}`'],
  ['{"nodes": []', "1:13", '`{"nodes": []`'],
  ["{ id: a }", "1:3", "begins with { or [ is read as JSON"],
  ["a: 1\r\nnodes: 9007199254740993\r\n", "2:8", "2^53"],
  ["nodes: []\nnodes: []\n", "2:1", "twice"],
  ["nodes: []\nx: &a [1]\ny: *a\n", "3:4", "aliases"],
  ["nodes:\n  - config:\n      __proto__: 1\n", "3:7", "prototype"],
  ['title: x\nnodes:\n  - label: "\\0"\n', "3:5", "NUL"],
])("the fault of a text that cannot be read names its line: %j", (text, place, words) => {
  expect(toldOf(text)[0]).toMatch(new RegExp(`^${place} `));
  expect(messageOf(text)).toContain(words);
});

test("a second YAML document is refused at its marker; a marker before the first document is allowed", () => {
  const one = "nodes:\n  - { id: s, type: start }\n";
  expect(toldOf(`${one}---\nid: other\n`)).toEqual(["3:1 YAML_SYNTAX"]);
  expect(messageOf(`${one}---\nid: other\n`)).toMatch(/^line 3, column 1: a second YAML document/);
  expect(toldOf(`${one}--- {}\n`)).toEqual(["3:1 YAML_SYNTAX"]);
  expect(toldOf(`---\n${one}...\n`)).toEqual([]);
});

test("nodes that no edge leads to get one warning, at the first of them", () => {
  const text = `nodes:
  - { id: s, type: start }
  - { id: lone, type: task }
  - { id: island, type: task }
  - { id: shore, type: task }
edges:
  - { source: island, target: shore }
`;
  expect(toldOf(text)).toEqual(["3:5 lone nodes[1] UNREACHED", "4:5 island nodes[2] UNREACHED"]);
});

test("a type that no executor serves gets a warning with the nearest known type", () => {
  const text = `nodes:
  - { id: s, type: start }
  - { id: a, type: javascrpt }
  - { id: b, type: map, config: { items: [], body: { type: htttp } } }
  - { id: c, type: resize_image }
edges:
  - { source: s, target: a }
  - { source: s, target: b }
  - { source: s, target: c }
`;
  const served = ["start", "map", "javascript", "http"];
  const types = { served: new Set(served), registered: new Set<string>(), schemas: new Map() };
  const parsed = parseDefinition(text, { types });
  expect(parsed.ok && parsed.warnings).toMatchObject([
    {
      path: "nodes[1].type",
      reason: "TYPE_NOT_SERVED",
      nodeId: "a",
      message: "no connected executor serves javascrpt; did you mean javascript?",
      position: { line: 3, column: 14 },
    },
    { path: "nodes[2].config.body.type", message: expect.stringContaining("did you mean http?") },
    {
      path: "nodes[3].type",
      message: expect.stringContaining("its runs wait until an executor does"),
    },
  ]);
  expect(toldOf(text)).toEqual([]);
  expect(toldOf(text, [...served, "javascrpt", "htttp", "resize_image"])).toEqual([]);
});
