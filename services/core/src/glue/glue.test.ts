import { expect, test } from "vitest";
import { LIMITS } from "../data/limits.ts";
import { type NodeContext, scopeOf } from "../data/scope.ts";
import { type GlueType, isGlueType } from "../definition/node-types.ts";
import { GLUE, type Glue } from "./glue.ts";

const CONTEXT: NodeContext = { input: { name: "Ada" }, nodes: {}, vars: {} };

/** Checks the config as a task does and completes; a refused config comes back as `refused`. */
function complete(type: GlueType, config: unknown, context = CONTEXT, input = {}) {
  const glue = GLUE[type] as Glue<unknown>;
  const parsed = glue.config.safeParse(config);
  if (!parsed.success) return { refused: true };
  return glue.complete(parsed.data, { context, input, scope: scopeOf(context, input) });
}

const withNodes = (nodes: Record<string, unknown>): NodeContext => ({
  input: null,
  nodes,
  vars: {},
});

test("start passes on the run's input (S3.24)", () => {
  expect(complete("start", {})).toEqual({
    output: { started: true, inputReceived: { name: "Ada" } },
  });
  expect(complete("start", { a: 1 })).toEqual({ refused: true });
});

test("end collects its output parameters and leaves by no handle (S3.25)", () => {
  expect(complete("end", { output_parameters: { total: 3 } })).toEqual({ output: { total: 3 } });
});

test("end without output parameters passes on what its edges bring (S3.25)", () => {
  expect(complete("end", {}, CONTEXT, { a: 1 })).toEqual({ output: { a: 1 } });
  expect(complete("end", {}, withNodes({ x: [1] }))).toEqual({ output: [1] });
  expect(complete("end", {}, withNodes({ x: 1, y: 2 }))).toEqual({ output: { x: 1, y: 2 } });
});

test("noop completes with an empty object", () => {
  expect(complete("noop", {})).toEqual({ output: {} });
});

const branches = [
  { id: "big", when: "ctx.input.n > 10" },
  { id: "small", when: "ctx.input.n > 0 && input.go" },
];
const decide = (n: unknown) =>
  complete("condition", { branches }, { input: { n }, nodes: {}, vars: {} }, { go: true });

test("a condition leaves by its first true branch, else by `else` (S3.28)", () => {
  expect(decide(11)).toEqual({ output: { branch: "big" }, handle: "big" });
  expect(decide(5)).toMatchObject({ handle: "small" });
  expect(decide(0)).toMatchObject({ handle: "else" });
});

test("a condition fails for good on a missing value and on a wrong type (S3.28)", () => {
  const missing = complete("condition", { branches }, { input: {}, nodes: {}, vars: {} });
  expect(missing).toMatchObject({ failed: { cause: "missing_variable", permanent: true } });
  expect(decide("text")).toMatchObject({ failed: { cause: "condition_type", permanent: true } });
});

test.each(["((", "[1]", `${"(".repeat(1_000)}true${")".repeat(1_000)}`])(
  "a condition that does not compile is refused",
  (when) => {
    expect(complete("condition", { branches: [{ id: "a", when }] })).toEqual({ refused: true });
  },
);

test.each([1_500, "1500"])(
  "a delay makes what follows wait and does not wait itself (S3.29)",
  (delay_ms) => {
    expect(complete("delay", { delay_ms })).toEqual({
      output: { delayMs: 1_500 },
      queueDelayMs: 1_500,
    });
  },
);

test.each([-1, 1.5, LIMITS.delayMsMax + 1, "soon", null, Number.NaN])(
  "a delay of %s is refused",
  (delay_ms) => {
    expect(complete("delay", { delay_ms })).toEqual({ refused: true });
  },
);

const body = { type: "noop" };
const loop = (config: object) => complete("loop", { body, ...config });

test("a map expands into its items (S3.30)", () => {
  expect(complete("map", { items: [1, { a: 2 }], body })).toEqual({
    expand: { items: [1, { a: 2 }] },
  });
  expect(complete("map", { items: "x", body })).toEqual({ refused: true });
  const items = Array.from({ length: LIMITS.scopeWidth + 1 }, () => 0);
  expect(complete("map", { items, body })).toMatchObject({ failed: { permanent: true } });
});

test("a loop expands into items, a number of times, or its bound (S3.30)", () => {
  expect(loop({ items: ["a"] })).toEqual({ expand: { items: ["a"], cut: false } });
  expect(loop({ times: "2" })).toEqual({ expand: { items: [0, 1], cut: false } });
  expect(loop({ until: "true", max_iterations: 2 })).toEqual({
    expand: { items: [0, 1], cut: true },
  });
});

test("a loop above its bound is cut where a condition can end it, and fails where none can", () => {
  expect(loop({ items: [1, 2, 3], until: "true", max_iterations: 2 })).toEqual({
    expand: { items: [1, 2], cut: true },
  });
  expect(loop({ times: 51 })).toMatchObject({ failed: { cause: "max_iterations" } });
});

test("types that act outside are no glue", () => {
  for (const type of ["javascript", "http", "llm", "approval", "subworkflow", "toString"])
    expect(isGlueType(type)).toBe(false);
});

test("a sanitize node refuses a value that is too long for its pattern", () => {
  const config = { value: "a".repeat(100_000), drop: ["net"], reason: "checked" };
  const given = (pattern: string) => complete("sanitize", { ...config, pattern });
  expect(given("^a+$")).toEqual({ output: config.value });
  expect(given("(?:[ab]{1,40}a){1,22}$")).toMatchObject({ failed: { cause: "sanitize_failed" } });
});
