import { expect, test } from "vitest";
import { LIMITS } from "../data/limits.ts";
import { nodeJson } from "../log/node-json.ts";
import { parseDefinition } from "./parse.ts";

const parse = (contracts: unknown) =>
  parseDefinition(JSON.stringify({ nodes: [{ id: "s", type: "start", contracts }], edges: [] }));
const faultsOf = (input: unknown): string[] => {
  const parsed = parse({ input });
  return parsed.ok ? [] : parsed.violations.map(({ path, reason }) => `${path} ${reason}`);
};
const AT = "nodes[0].contracts.input";

test("a version of a definition keeps the contracts of its nodes, null where there are none (S1.5)", () => {
  const output = { type: "object", required: ["text"] };
  const parsed = parse({ output });
  if (!parsed.ok) throw new Error("does not parse");
  expect(parsed.definition.nodes[0]?.contracts).toEqual({ input: null, output });
  // What is stored gives the same again, and it is what an executor gets.
  const again = parseDefinition(parsed.canonicalJson);
  expect(again).toMatchObject({ ok: true, definition: parsed.definition });
  expect(JSON.parse(nodeJson(parsed.graph, 0, "node"))).toMatchObject({
    node: { contracts: { output } },
  });
});

test("ordinary schemas are taken", () => {
  const schema = {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    $id: "https://example.com/order.json",
    title: "Order",
    type: "object",
    properties: {
      id: { type: "string", format: "uuid", examples: ["x"] },
      lines: { type: "array", minItems: 1, uniqueItems: true, items: { $ref: "#/$defs/line" } },
      note: { type: ["string", "null"], pattern: "^[^<>]*$", default: null, "x-ui": "area" },
      parent: { $ref: "#" },
    },
    patternProperties: { "^meta_": true },
    required: ["id"],
    additionalProperties: false,
    oneOf: [{ required: ["note"] }, { not: { required: ["note"] } }],
    $defs: { line: { type: "object", properties: { qty: { type: "integer", minimum: 1 } } } },
  };
  expect(faultsOf(schema)).toEqual([]);
  expect(faultsOf(true)).toEqual([]);
});

test("every fault of a schema is named by its place", () => {
  const schema = {
    type: "strng",
    requried: ["a"],
    properties: { a: { minLength: -1 }, b: 7, c: { enum: [] } },
    allOf: [],
  };
  expect(faultsOf(schema).toSorted()).toEqual(
    [
      `${AT}.allOf CONTRACT_SCHEMA`,
      `${AT}.properties.a.minLength CONTRACT_SCHEMA`,
      `${AT}.properties.b CONTRACT_SCHEMA`,
      `${AT}.properties.c.enum CONTRACT_SCHEMA`,
      `${AT}.requried UNKNOWN_KEY`,
      `${AT}.type CONTRACT_SCHEMA`,
    ].toSorted(),
  );
  expect(faultsOf([])).toEqual([`${AT} CONTRACT_SCHEMA`]);
});

test.each([
  [{ $ref: "https://example.com/other.json" }, "$ref CONTRACT_REF"],
  [{ $ref: "other.json#/a" }, "$ref CONTRACT_REF"],
  [{ $ref: "#/$defs/gone" }, "$ref CONTRACT_REF"],
  [{ items: { $id: "https://example.com/x" } }, "items.$id CONTRACT_REF"],
  [{ $schema: "http://json-schema.org/draft-07/schema#" }, "$schema CONTRACT_SCHEMA"],
  [{ pattern: "(?=a)b" }, "pattern CONTRACT_PATTERN"],
  [{ patternProperties: { "(": true } }, "patternProperties.( CONTRACT_PATTERN"],
])("%j is refused", (schema, fault) => {
  expect(faultsOf(schema)).toEqual([`${AT}.${fault}`]);
});

test("a circle of references that never looks deeper is refused", () => {
  const circle = { $ref: "#/$defs/a", $defs: { a: { allOf: [{ $ref: "#/$defs/a" }] } } };
  expect(faultsOf(circle)).toEqual([`${AT}.$defs.a CONTRACT_REF`]);
  expect(faultsOf({ properties: { child: { $ref: "#" } } })).toEqual([]);
});

test("the output of a child run is moderated in the child, not in the parent", () => {
  const faults = (moderation: string) => {
    const child = { id: "c", type: "subworkflow", config: { workflow_id: "w" }, moderation };
    const nodes = [{ id: "s", type: "start" }, child];
    const edges = [{ source: "s", target: "c" }];
    const parsed = parseDefinition(JSON.stringify({ nodes, edges }));
    return parsed.ok ? [] : parsed.violations.map(({ path, reason }) => `${path} ${reason}`);
  };
  expect(faults("input")).toEqual([]);
  for (const moderation of ["output", "both"])
    expect(faults(moderation)).toEqual(["nodes[1].moderation MODERATION_PLACE"]);
});

test("size, depth and the number of patterns are bounded", () => {
  expect(faultsOf({ description: "x".repeat(LIMITS.contractBytes) })).toEqual([`${AT} TOO_LARGE`]);
  let deep: unknown = {};
  for (let depth = 0; depth <= LIMITS.contractDepth; depth++) deep = { not: deep };
  expect(faultsOf(deep)[0]).toMatch(/CONTRACT_TOO_DEEP$/);
  const anyOf = Array.from({ length: LIMITS.contractPatterns + 1 }, (_, index) => ({
    pattern: `^${index}$`,
  }));
  expect(faultsOf({ anyOf })).toEqual([
    `${AT}.anyOf[${LIMITS.contractPatterns}].pattern CONTRACT_PATTERN`,
  ]);
});

test("the schema of a run's input keeps the rules of contracts, at its own path", () => {
  const faults = (input_schema: unknown) => {
    const parsed = parseDefinition(
      JSON.stringify({ input_schema, nodes: [{ id: "a", type: "noop" }] }),
    );
    if (parsed.ok) return parsed.definition.inputSchema;
    return parsed.violations.map(({ path, reason, nodeId }) => `${path} ${reason}${nodeId}`);
  };
  const schema = { type: "object", required: ["a"] };
  expect(faults(schema)).toEqual(schema);
  expect(faults(false)).toBe(false);
  expect(faults(undefined)).toBeNull();
  expect(faults(null)).toEqual(["input_schema CONTRACT_SCHEMA"]);
  expect(faults({ type: "objct" })).toEqual(["input_schema.type CONTRACT_SCHEMA"]);
  expect(faults({ properties: { a: { pattern: "(?=a)b" } } })).toEqual([
    "input_schema.properties.a.pattern CONTRACT_PATTERN",
  ]);
  expect(faults({ pattern: "\\k<name>" })).toEqual(["input_schema.pattern CONTRACT_PATTERN"]);
});
