import { expect, test } from "vitest";
import { parseDefinition, parseSavedDefinition } from "./parse.ts";

type Part = Readonly<Record<string, unknown>>;

const start = { id: "s", type: "start" };
const task = (id: string, more: Part = {}): Part => ({ id, type: "task", ...more });
const edge = (source: string, target: string, more: Part = {}): Part => ({
  source,
  target,
  ...more,
});

/** Violations of what an author sends; the same text from the store is read as it always was. */
function faultsOf(nodes: readonly Part[], edges: readonly Part[]): string[] {
  const text = JSON.stringify({ nodes: [start, ...nodes], edges });
  expect(parseSavedDefinition(text).ok).toBe(true);
  const parsed = parseDefinition(text);
  return parsed.ok ? [] : parsed.violations.map(({ path, reason }) => `${path} ${reason}`);
}

/** Violations of a second node. */
const faultsOfNode = (node: Part): string[] =>
  faultsOf([{ id: "a", ...node }], [edge("s", "a")]).map((fault) => fault.replace("nodes[1].", ""));

test("an edge that is there already is refused, and both are named", () => {
  const nodes = [task("a"), task("b", { join: { n_of_m: 2 } })];
  const edges = [edge("s", "a"), edge("a", "b"), edge("a", "b", { id: "again" })];
  expect(faultsOf(nodes, edges)).toEqual(["edges[2] DUPLICATE_EDGE"]);
  const parsed = parseDefinition(JSON.stringify({ nodes: [start, ...nodes], edges }));
  expect(!parsed.ok && parsed.violations[0]?.message).toBe(
    "edges[1] and edges[2] are the same edge from a to b; remove one of them",
  );
});

test("edges are compared by meaning: an edge of an approval without a handle equals its edge 'approved'", () => {
  const ask = { id: "a", type: "approval", config: { message: "?" } };
  const edges = [edge("s", "a"), edge("a", "b"), edge("a", "b", { source_handle: "approved" })];
  expect(faultsOf([ask, task("b")], edges)).toEqual(["edges[2] DUPLICATE_EDGE"]);
});

test("edges that bring other values, or leave by other handles, are others", () => {
  const condition = {
    id: "c",
    type: "condition",
    config: { branches: [{ id: "yes", when: "true" }] },
  };
  const edges = [
    edge("s", "c"),
    edge("c", "b", { source_handle: "yes" }),
    edge("c", "b", { source_handle: "else" }),
    edge("s", "b", { target_param_label: "one" }),
    edge("s", "b", { target_param_label: "two" }),
    edge("s", "b", { target_param_label: "two", source_output_key: "x" }),
  ];
  expect(faultsOf([condition, task("b")], edges)).toEqual([]);
});

test("one parent does not count twice for n_of_m, whatever its edges bring", () => {
  const two = (more: Part, other: Part) =>
    faultsOf(
      [task("a"), task("b", { join: { n_of_m: 2 } })],
      [edge("s", "a"), edge("a", "b", more), edge("a", "b", other), edge("s", "b")],
    );
  const repeated = ["edges[2] DUPLICATE_EDGE"];
  expect(two({ target_param_label: "x" }, { target_param_label: "y" })).toEqual(repeated);
  expect(two({}, { source_handle: "h" })).toEqual(repeated);
  expect(two({ source_handle: "h" }, {})).toEqual(repeated);
  expect(two({ source_handle: "g" }, { source_handle: "h" })).toEqual([]);
  expect(two({}, { source_handle: "error" })).toEqual([]);
});

test.each(["prototype", "constructor", "toString", "valueOf", "hasOwnProperty"])(
  "%s is the id of nothing",
  (name) => {
    expect(faultsOf([task(name)], [edge("s", name)])).toEqual(["nodes[1].id RESERVED_KEY"]);
    const branches = [{ id: name, when: "true" }];
    expect(
      faultsOf(
        [{ id: "c", type: "condition", config: { branches } }, task("b")],
        [edge("s", "c", { id: name }), edge("c", "b", { source_handle: name })],
      ),
    ).toEqual([
      "nodes[1].config.branches[0].id RESERVED_KEY",
      "edges[0].id RESERVED_KEY",
      "edges[1].source_handle RESERVED_KEY",
    ]);
    const parsed = parseDefinition(JSON.stringify({ id: name, nodes: [start] }));
    expect(!parsed.ok && parsed.violations).toMatchObject([{ path: "id", reason: "RESERVED_KEY" }]);
  },
);

const NEVER = ["retry RETRY_NEVER"];
const twice = { attempts: 2 };

test.each([
  ["start", {}],
  ["noop", {}],
  ["delay", { delay_ms: 1 }],
  ["end", {}],
  ["condition", { branches: [{ id: "y", when: "true" }] }],
  ["approval", { message: "?" }],
  ["map", { items: [], body: { type: "task" } }],
  ["loop", { times: 1, body: { type: "task" } }],
])("a %s fails for good or not at all, so a retry policy on it is refused", (type, config) => {
  if (type === "start") {
    const text = JSON.stringify({ nodes: [{ ...start, retry: twice }] });
    const parsed = parseDefinition(text);
    expect(!parsed.ok && parsed.violations).toMatchObject([{ reason: "RETRY_NEVER", nodeId: "s" }]);
    return;
  }
  expect(faultsOfNode({ type, config, retry: twice })).toEqual(NEVER);
  expect(faultsOfNode({ type, config, retry: "standard" })).toEqual(NEVER);
  // Moderation that does not answer is asked again; one attempt by name is what was asked for.
  if (type !== "approval")
    expect(faultsOfNode({ type, config, retry: twice, moderation: "input" })).toEqual([]);
  expect(faultsOfNode({ type, config, retry: { attempts: 1 } })).toEqual([]);
});

test("a policy is refused that names only causes its type never has, none at all, or no attempts", () => {
  const script = { type: "javascript", config: { code: "throw 1" } };
  const on = (...causes: string[]) =>
    faultsOfNode({ ...script, retry: { ...twice, retry_on: causes } });
  expect(on("provider_error")).toEqual([]);
  expect(on("timeout", "rate_limit")).toEqual([]);
  expect(on("rate_limit")).toEqual(NEVER);
  expect(on("contract_violated")).toEqual(NEVER);
  expect(
    faultsOfNode({
      ...script,
      contracts: { output: true },
      retry: { ...twice, retry_on: ["contract_violated"] },
    }),
  ).toEqual([]);
  expect(on()).toEqual(NEVER);
  expect(faultsOfNode({ ...script, retry: { backoff_ms: 5 } })).toEqual(NEVER);
  expect(faultsOfNode({ ...script, retry: {} })).toEqual([]);
  expect(faultsOfNode({ type: "of_mine", retry: { ...twice, retry_on: ["rate_limit"] } })).toEqual(
    [],
  );
});

test("the policy of a body is judged by the body's type", () => {
  const each = (type: string, config: Part) =>
    faultsOfNode({ type: "map", config: { items: [], body: { type, config, retry: twice } } });
  expect(each("noop", {})).toEqual(["config.body.retry RETRY_NEVER"]);
  expect(each("http", { url: "https://a.test" })).toEqual([]);
});

test("a pattern that looks back by name is refused in every schema of a definition", () => {
  const pattern = "(?<n>a)\\k<n>";
  const properties = { x: { pattern }, y: { patternProperties: { [pattern]: true } } };
  expect(faultsOfNode({ type: "task", contracts: { input: { properties } } })).toEqual([
    "contracts.input.properties.x.pattern CONTRACT_PATTERN",
    `contracts.input.properties.y.patternProperties.${pattern} CONTRACT_PATTERN`,
  ]);
  const config = { message: "?", response_schema: { pattern } };
  expect(faultsOfNode({ type: "approval", config })).toEqual([
    "config.response_schema.pattern CONTRACT_PATTERN",
  ]);
});

test("thirty thousand edges between two nodes are looked through in a moment", () => {
  const edges = Array.from({ length: 30_000 }, (_, n) =>
    edge("s", "a", { target_param_label: `p${n}` }),
  );
  // The time of this process, because a busy machine lets it wait. A quadratic rule would take minutes.
  const before = process.cpuUsage();
  expect(faultsOf([task("a")], edges)).toEqual([]);
  const { user, system } = process.cpuUsage(before);
  expect(user + system).toBeLessThan(5_000_000);
});
