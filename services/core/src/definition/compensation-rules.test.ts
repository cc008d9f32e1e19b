import { expect, test } from "vitest";
import { schemasIn } from "./known-types.ts";
import { parseDefinition } from "./parse.ts";

const node = (compensation: unknown, more: object = {}) => ({
  id: "a",
  type: "acme.charge",
  compensation,
  ...more,
});

/** Path and reason of every broken rule. */
function faultsOf(definition: object): string[] {
  const parsed = parseDefinition(JSON.stringify(definition));
  return parsed.ok ? [] : parsed.violations.map(({ path, reason }) => `${path} ${reason}`);
}
const faults = (compensation: unknown, more?: object) =>
  faultsOf({ nodes: [node(compensation, more)] });

test("a compensation is a node type with a config, an input, retries and a timeout of its own (S2.16)", () => {
  const refund = { type: "acme.refund", input: { id: "{{ ctx.output.id }}" }, timeout_ms: 5_000 };
  const parsed = parseDefinition(JSON.stringify({ nodes: [node(refund)] }));
  if (!parsed.ok) throw new Error("refused");
  expect(parsed.definition.nodes[0]?.compensation).toMatchObject({
    type: "acme.refund",
    config: {},
    input: { id: "{{ ctx.output.id }}" },
    timeoutMs: 5_000,
    // Unlike a node, it is tried three times.
    retry: { attempts: 3 },
  });
  expect([...parsed.definition.compensateOn]).toEqual(["failure", "cancel", "timeout"]);
  expect(parsed.definition.compensationTimeoutMs).toBe(3_600_000);
});

test("what cannot undo anything is refused with its place (S2.16)", () => {
  const refund = { type: "acme.refund" };
  expect(faults(refund, { type: "noop" })).toEqual(["nodes[0].compensation NOTHING_TO_UNDO"]);
  expect(faults({ type: "delay", config: { delay_ms: 1 } })).toEqual([
    "nodes[0].compensation.type UNDOES_NOTHING",
  ]);
  const map = (type: string) => ({ type: "map", config: { items: [], body: { type } } });
  expect(faults(refund, map("noop"))).toEqual(["nodes[0].compensation NOTHING_TO_UNDO"]);
  expect(faults(refund, map("acme.charge"))).toEqual([]);
});

test("a template may name only what is kept until then (S2.16)", () => {
  const reads = (input: unknown) => faults({ type: "acme.refund", input });
  expect(reads("{{ ctx.output.id }} of {{ ctx.input.order }}")).toEqual([]);
  for (const path of ["ctx.nodes.b", "ctx.vars.x", "ctx.x", "ctx.memory.k"])
    expect(reads({ deep: [`{{ ${path} }}`] })).toEqual([
      "nodes[0].compensation.input.deep[0] NOT_KEPT",
    ]);
  expect(reads("{{ input.x }}")).toEqual([expect.stringContaining("nodes[0].compensation.input")]);
  expect(reads("{{ ctx.output.__proto__ }}")).toEqual(["nodes[0].compensation.input RESERVED_KEY"]);
});

test("the config and the retries of a compensation follow the rules of its type (S2.16)", () => {
  expect(faults({ type: "http", config: { url: "ftp://x" } })).toEqual([
    "nodes[0].compensation.config.url URL_BLOCKED",
  ]);
  const retry = { attempts: 2, retry_on: ["rate_limit"] };
  expect(faults({ type: "javascript", config: { code: "return 1" }, retry })).toEqual([
    "nodes[0].compensation.retry RETRY_NEVER",
  ]);
  expect(faults({ type: "acme.refund", compensation: {} })).toHaveLength(1);
  expect(faultsOf({ compensate_on: ["success"], nodes: [node(undefined)] })).toHaveLength(1);
  expect(faultsOf({ compensation_timeout_ms: 0, nodes: [node(undefined)] })).toHaveLength(1);
});

test("the output of the node fits the published input of its compensation (S2.16)", () => {
  const object = (properties: object) =>
    JSON.stringify({
      type: "object",
      properties,
      required: Object.keys(properties),
      additionalProperties: false,
    });
  const texts = { inputSchema: "", outputSchema: "", configSchema: "" };
  const charge = { ...texts, outputSchema: object({ id: { type: "string" } }) };
  const schemas = new Map([
    ["acme.charge", schemasIn(charge)],
    ["acme.refund", schemasIn({ ...texts, inputSchema: object({ id: { type: "string" } }) })],
    ["acme.other", schemasIn({ ...texts, inputSchema: object({ id: { type: "number" } }) })],
  ]);
  const served = new Set(schemas.keys());
  const types = { served, registered: served, schemas };
  const check = (compensation: object): string[] => {
    const parsed = parseDefinition(JSON.stringify({ nodes: [node(compensation)] }), { types });
    return parsed.ok
      ? parsed.warnings.map(({ path, reason }) => `${path} ${reason}`)
      : parsed.violations.map(({ path, reason }) => `${path} ${reason}`);
  };
  expect(check({ type: "acme.refund" })).toEqual([]);
  expect(check({ type: "acme.other" })).toEqual([
    expect.stringMatching(/nodes\[0\]\.compensation.* TYPE_MISMATCH/),
  ]);
  expect(check({ type: "acme.refund", input: { id: "{{ ctx.output.ident }}" } })).toContain(
    "nodes[0].compensation.input.id NO_SUCH_OUTPUT",
  );
  expect(check({ type: "acme.unserved" })).toEqual(["nodes[0].compensation.type TYPE_NOT_SERVED"]);
});
