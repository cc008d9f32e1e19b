import { expect, test } from "vitest";
import { LIMITS } from "../data/limits.ts";
import { definitionError } from "./error.ts";
import { parseDefinition } from "./parse.ts";

const parse = (definition: unknown) => parseDefinition(JSON.stringify(definition));
const faultsOf = (definition: unknown): string[] => {
  const parsed = typeof definition === "string" ? parseDefinition(definition) : parse(definition);
  return parsed.ok ? [] : parsed.violations.map(({ path, reason }) => `${path} ${reason}`.trim());
};
const errorOf = (definition: unknown) => {
  const parsed = parse(definition);
  return parsed.ok ? undefined : definitionError(parsed.violations);
};
const start = { id: "s", type: "start" };
const node = (id: string, more: Readonly<Record<string, unknown>> = {}) => ({
  id,
  type: "task",
  ...more,
});
const edge = (source: string, target: string, more: Readonly<Record<string, unknown>> = {}) => ({
  source,
  target,
  ...more,
});

test("the smallest definition gets every default (S1.2, S1.3, S1.26, S3.20)", () => {
  const parsed = parse({ nodes: [start, node("a")], edges: [edge("s", "a")] });
  expect(parsed).toMatchObject({
    ok: true,
    definition: {
      id: null,
      deadlineMs: LIMITS.runDeadlineMs,
      nodes: [
        { id: "s", ordinal: 0 },
        {
          id: "a",
          label: null,
          ordinal: 1,
          config: {},
          join: { mode: "all" },
          retry: { attempts: 1, backoffMs: 500, maxBackoffMs: 8_000 },
          timeoutMs: LIMITS.nodeTimeoutMs,
          onParentFailure: "propagate",
          errorHandling: "fail_node",
          outputVariable: null,
          merge: null,
        },
      ],
      edges: [
        {
          id: "edge-0",
          source: "s",
          target: "a",
          sourceHandle: null,
          sourceOutputKey: "output",
          targetParamLabel: null,
          mergeStrategy: null,
        },
      ],
    },
  });
});

test("a node with an edge that leaves by error continues on failure (S3.33)", () => {
  const parsed = parse({
    nodes: [start, node("a")],
    edges: [edge("s", "a", { source_handle: "error" })],
  });
  expect(parsed.ok && parsed.definition.nodes[0]?.errorHandling).toBe("continue");
});

test("YAML and JSON of one definition are one definition, with one canonical text", () => {
  const yaml = parseDefinition(
    "id: demo\nnodes:\n  - {id: s, type: start}\n  - id: a\n    type: task\n    retry: standard\nedges:\n  - source: s\n    target: a\n",
  );
  const json = parse({
    edges: [edge("s", "a")],
    nodes: [start, node("a", { retry: "standard" })],
    id: "demo",
  });
  expect(yaml.ok && json.ok).toBe(true);
  if (!yaml.ok || !json.ok) return;
  expect(yaml.canonicalJson).toBe(json.canonicalJson);
  expect(yaml.definition).toEqual(json.definition);
  expect(yaml.definition.nodes[1]?.retry).toMatchObject({
    attempts: 3,
    backoffMs: 1_000,
    jitter: false,
  });
  const again = parseDefinition(json.canonicalJson);
  expect(again.ok && again.definition).toEqual(json.definition);
});

test("every violation is reported at once, each with its place", () => {
  const faults = faultsOf({
    wat: 1,
    deadline_ms: 0,
    nodes: [
      start,
      node("a", { retry: { attempts: 0 }, timeout_ms: -5, output_variable: "x" }),
      node("a", { merge: "sum", output_variable: "x", extra: true }),
      node("_b", { on_parent_failure: "explode", label: "l".repeat(201) }),
      { type: "task" },
    ],
    edges: [edge("s", "gone"), edge("gone", "a")],
  });
  expect(faults).toEqual(
    expect.arrayContaining([
      "wat UNKNOWN_KEY",
      "deadline_ms OUT_OF_RANGE",
      "nodes[1].retry.attempts OUT_OF_RANGE",
      "nodes[1].timeout_ms OUT_OF_RANGE",
      "nodes[2].id DUPLICATE_ID",
      "nodes[2].merge OUT_OF_RANGE",
      "nodes[2].extra UNKNOWN_KEY",
      "nodes[2].output_variable DUPLICATE_VARIABLE",
      "nodes[3].id BAD_ID",
      "nodes[3].on_parent_failure OUT_OF_RANGE",
      "nodes[3].label OUT_OF_RANGE",
      "nodes[4].id REQUIRED",
      "edges[0].target DANGLING_EDGE",
      "edges[1].source DANGLING_EDGE",
    ]),
  );
});

test("a cycle is refused with its path before anything else happens (S1.11, D1, D2)", () => {
  const cycle = {
    nodes: [start, node("a"), node("b")],
    edges: [edge("s", "a"), edge("a", "b"), edge("b", "a")],
  };
  const error = errorOf(cycle);
  expect(error).toMatchObject({ reason: "CYCLE_DETECTED" });
  expect(error?.message).toContain("a -> b -> a");
  expect(faultsOf({ nodes: [start, node("a")], edges: [edge("a", "a")] })).toEqual(["edges CYCLE"]);
});

test("a start node is optional: without one every node without parents is a root", () => {
  const parsed = parseDefinition(
    JSON.stringify({ nodes: [node("a"), node("b"), node("c")], edges: [edge("a", "c")] }),
  );
  expect(parsed).toMatchObject({ ok: true, warnings: [] });
  if (parsed.ok) expect(parsed.graph.roots).toEqual([0, 1]);
});

test("a definition has nodes, at most one start, and nothing before it (D5, D7)", () => {
  expect(faultsOf({ nodes: [] })).toEqual(["nodes EMPTY"]);
  expect(faultsOf({ nodes: [start, { id: "t", type: "start" }] })).toEqual([
    "nodes[1].type MANY_STARTS",
  ]);
  expect(faultsOf({ nodes: [start, node("a")], edges: [edge("a", "s")] })).toEqual([
    "nodes[0] START_HAS_PARENTS",
  ]);
  const end = { id: "e", type: "end" };
  expect(
    faultsOf({ nodes: [start, end, node("a")], edges: [edge("s", "e"), edge("e", "a")] }),
  ).toEqual(["nodes[1] END_HAS_CHILDREN"]);
});

test("joins are all, any or a reachable n of m (D10)", () => {
  const withJoin = (join: unknown) =>
    faultsOf({ nodes: [start, node("a", { join })], edges: [edge("s", "a")] });
  expect(withJoin("any")).toEqual([]);
  expect(withJoin({ n_of_m: 1 })).toEqual([]);
  for (const join of [
    { n_of_m: 2 },
    { n_of_m: 0 },
    { n_of_m: 1.5 },
    { n_of_m: 1, x: 1 },
    "most",
    null,
    3,
  ])
    expect(withJoin(join), JSON.stringify(join)).toEqual(["nodes[1].join BAD_JOIN"]);
});

test("retry, timeout, delay and deadline are bounded (D13, D14, D17)", () => {
  const one = (more: Readonly<Record<string, unknown>>) =>
    faultsOf({ nodes: [start, node("a", more)] });
  for (const attempts of [0, -1, 1e9, 1.5, "3"])
    expect(one({ retry: { attempts } })[0], String(attempts)).toMatch(
      /^nodes\[1\]\.retry\.attempts /,
    );
  for (const timeout of [0, -5, 1e12])
    expect(one({ timeout_ms: timeout })).toEqual(["nodes[1].timeout_ms OUT_OF_RANGE"]);
  expect(one({ retry: { attempts: 2, retry_on: ["sunspots"] } })).toEqual([
    "nodes[1].retry.retry_on[0] OUT_OF_RANGE",
  ]);
  const delay = { id: "d", type: "delay", config: { delay_ms: 400 * 86_400_000 } };
  expect(faultsOf({ nodes: [start, delay] })[0]).toMatch(/^nodes\[1\]\.config\.delay_ms /);
  expect(faultsOf({ nodes: [start], deadline_ms: 1e15 })).toEqual(["deadline_ms OUT_OF_RANGE"]);
});

test("an edge from a condition names one of its branches, else or error (S3.28, D11)", () => {
  const condition = {
    id: "c",
    type: "condition",
    config: { branches: [{ id: "yes", when: "ctx.x > 1" }] },
  };
  const leaving = (source_handle: string) =>
    faultsOf({
      nodes: [start, condition, node("a")],
      edges: [edge("s", "c"), edge("c", "a", { source_handle })],
    });
  for (const handle of ["yes", "else", "error"]) expect(leaving(handle)).toEqual([]);
  expect(leaving("no")).toEqual(["edges[0].source_handle UNDECLARED_HANDLE".replace("0", "1")]);
});

test("two output variables with one name are refused, and so are names ctx has already (D23)", () => {
  const named = (...names: string[]) =>
    faultsOf({
      nodes: [start, ...names.map((name, index) => node(`n${index}`, { output_variable: name }))],
    });
  expect(named("x", "y")).toEqual([]);
  expect(named("x", "x")).toEqual(["nodes[2].output_variable DUPLICATE_VARIABLE"]);
  expect(named("nodes")).toEqual(["nodes[1].output_variable RESERVED_KEY"]);
  expect(named("1x")).toEqual(["nodes[1].output_variable BAD_ID"]);
});

test("every text in a config is checked as a template (T1, T2, T4)", () => {
  const config = (value: unknown) =>
    faultsOf({ nodes: [start, node("a", { config: { deep: [{ text: value }] } })] });
  expect(config("{{ctx.input.x}}")).toEqual([]);
  expect(config("{{ctx.__proto__.x}}")).toEqual(["nodes[1].config.deep[0].text RESERVED_KEY"]);
  expect(config("{{ctx.f()}}")).toEqual(["nodes[1].config.deep[0].text TEMPLATE_SYNTAX"]);
  expect(
    errorOf({ nodes: [start, node("a", { config: { t: "{{ctx.a}}".repeat(10_000) } })] })?.reason,
  ).toBe("LIMIT_EXCEEDED");
});

test("sizes above the limits are LIMIT_EXCEEDED (D8, D19)", () => {
  const nodes = Array.from({ length: LIMITS.definitionNodes + 1 }, (_, index) => node(`n${index}`));
  expect(errorOf({ nodes })).toMatchObject({ reason: "LIMIT_EXCEEDED" });
  const large = { title: "x".repeat(LIMITS.definitionBytes) };
  expect([errorOf(large)?.reason, faultsOf(large)]).toEqual(["LIMIT_EXCEEDED", ["TOO_LARGE"]]);
  const edges = Array.from({ length: LIMITS.definitionEdges + 1 }, () => edge("s", "s"));
  expect(faultsOf({ nodes: [start], edges })).toEqual(["edges TOO_MANY_EDGES"]);
});

test("a chain of ten thousand nodes is parsed without recursion (D20)", () => {
  const count = LIMITS.definitionNodes;
  const parsed = parse({
    nodes: [
      { id: "n0", type: "start" },
      ...Array.from({ length: count - 1 }, (_, index) => node(`n${index + 1}`)),
    ],
    edges: Array.from({ length: count - 1 }, (_, index) => edge(`n${index}`, `n${index + 1}`)),
  });
  expect(parsed.ok && parsed.graph.nodes.at(-1)?.wave).toBe(count - 1);
});

test("texts that are no definition are refused by name and never throw", () => {
  expect(faultsOf("")).toEqual(["WRONG_TYPE"]);
  expect(faultsOf("[1,2]")).toEqual(["WRONG_TYPE"]);
  expect(faultsOf("{")).toEqual(["JSON_SYNTAX"]);
  expect(faultsOf('{"nodes":[],"nodes":[]}')).toEqual(["JSON_DUPLICATE_KEY"]);
  expect(faultsOf("[".repeat(100_000))).toEqual(["JSON_TOO_DEEP"]);
  expect(faultsOf("nodes: [a")).toEqual(["YAML_SYNTAX"]);
  expect(faultsOf("a: &x [1]\nb: *x")).toEqual(["YAML_ALIAS"]);
  expect(faultsOf("a: !!js/function x")).toEqual(["YAML_SYNTAX"]);
  expect(faultsOf("a: 1\na: 2")).toEqual(["JSON_DUPLICATE_KEY"]);
  expect(faultsOf("a: 9007199254740993")).toEqual(["NUMBER_PRECISION"]);
  expect(faultsOf("a: .inf")).toEqual(["NUMBER_RANGE"]);
  expect(faultsOf("a: ".concat("[".repeat(50_000)))).toEqual(["JSON_TOO_DEEP"]);
  expect(faultsOf("- ".repeat(30_000))).toEqual(["JSON_TOO_DEEP"]);
  expect(faultsOf("? ".repeat(30_000))).toEqual(["JSON_TOO_DEEP"]);
  expect(faultsOf("? [a]\n: 1")).toEqual(["YAML_SYNTAX"]);
  expect(faultsOf('a: 1\n"a": 2')).toEqual(["JSON_DUPLICATE_KEY"]);
  expect(faultsOf("# \n".repeat(30_000))).toEqual(["TOO_LARGE"]);
  expect(faultsOf("__proto__: 1")).toEqual(["RESERVED_KEY"]);
});

test("a thousand faults are answered in bounded space", () => {
  const edges = Array.from({ length: 1_000 }, () => edge("gone", "gone"));
  const faults = faultsOf({ nodes: [start], edges });
  expect(faults).toHaveLength(201);
  expect(faults.at(-1)).toBe("MORE");
});

test("a message never repeats more than 64 characters of the request", () => {
  const long = "n".repeat(5_000);
  const parsed = parse({ nodes: [start], edges: [edge(long, "s")], [long.slice(0, 200)]: 1 });
  const texts = parsed.ok ? [] : parsed.violations.flatMap(({ path, message }) => [path, message]);
  for (const text of texts) expect(text).not.toContain("n".repeat(65));
});

test("violations become the fields of one error", () => {
  const error = errorOf({
    nodes: [start, node("a", { timeout_ms: 0 })],
    edges: [edge("s", "gone")],
  });
  expect(error).toMatchObject({
    reason: "DEFINITION_INVALID",
    violations: [
      { field: "definition.nodes[1].timeout_ms", reason: "OUT_OF_RANGE" },
      { field: "definition.edges[0].target", reason: "DANGLING_EDGE" },
    ],
  });
});
