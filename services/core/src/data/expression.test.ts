import { expect, test } from "vitest";
import { compileCondition } from "./expression.ts";
import { LIMITS } from "./limits.ts";
import { scopeOf } from "./scope.ts";

const scope = scopeOf(
  {
    input: {
      n: 4,
      name: "Ada",
      tags: ["x", "y"],
      orders: [{ items: [{ price: 3 }, { price: 12 }] }],
      nothing: null,
      empty: "",
      none: [],
    },
    nodes: { fetch: { status: 200 } },
    vars: { total: 2.5 },
  },
  { limit: 10 },
);
const evaluate = (text: string, within = scope): unknown => {
  const compiled = compileCondition(text);
  if (!compiled.ok) return compiled.reason;
  const result = compiled.condition.evaluate(within);
  return result.ok ? result.value : result.reason;
};

test("conditions read ctx and input, with JSON numbers as people expect (S3.28)", () => {
  expect(evaluate("ctx.nodes.fetch.status == 200")).toBe(true);
  expect(evaluate("ctx.input.n > 3 && ctx.input.name == 'Ada'")).toBe(true);
  expect(evaluate("ctx.input.n + 1 == 5")).toBe(true);
  expect(evaluate("ctx.input.n % 2 == 0")).toBe(true);
  expect(evaluate("10 / ctx.input.n == 2.5 && ctx.total * 2 == 5")).toBe(true);
  expect(evaluate("input.limit - 1 < 10")).toBe(true);
  expect(evaluate("'x' in ctx.input.tags && size(ctx.input.tags) == 2")).toBe(true);
  expect(evaluate("has(ctx.input.gone)")).toBe(false);
  expect(evaluate("ctx.input.nothing == null")).toBe(true);
});

test.each([
  ["ctx.input.n", true],
  ["ctx.input.n - 4", false],
  ["ctx.input.name", true],
  ["ctx.input.empty", false],
  ["ctx.input.nothing", false],
  ["ctx.input.tags", true],
  ["ctx.input.none", true],
  ["size(ctx.input.none)", false],
  ["size(ctx.input.tags)", true],
  ["'yes'", true],
  ["''", false],
  ["0", false],
  ["0u", false],
  ["1u", true],
  ["0.0 / 0.0", false],
  ["null", false],
])("the truth of %s is %s, as in JavaScript (S3.28)", (text, truth) => {
  expect(evaluate(text)).toBe(truth);
});

test("a condition that is always true is refused, and a wrong type met later is condition_type (T13)", () => {
  for (const text of ["[1]", "{'a': 1}", "type(1)", "ctx.input.tags.map(tag, tag)"])
    expect(evaluate(text), text).toBe("CONDITION_TYPE");
  expect(evaluate("ctx.input.name > 1")).toBe("condition_type");
});

test("a missing path is missing_variable, and nothing is inherited (T1, T7)", () => {
  expect(evaluate("ctx.gone == 1")).toBe("missing_variable");
  expect(evaluate("ctx.constructor == 1")).toBe("missing_variable");
  expect(evaluate("ctx.__proto__ == 1")).toBe("missing_variable");
});

test("syntax, depth and size are refused before anything runs (T11)", () => {
  expect(evaluate("1 +")).toBe("EXPRESSION_SYNTAX");
  expect(evaluate("")).toBe("EXPRESSION_SYNTAX");
  expect(evaluate("process.env == 1")).toBe("EXPRESSION_SYNTAX");
  expect(evaluate(`${"(".repeat(1_000)}true${")".repeat(1_000)}`)).toBe("EXPR_TOO_DEEP");
  expect(evaluate(`${"!".repeat(2_000)}true`)).toBe("EXPR_TOO_DEEP");
  expect(evaluate(`'${"x".repeat(LIMITS.expressionBytes)}' == ''`)).toBe("EXPRESSION_TOO_LARGE");
});

test("regular expressions are not available, since they could backtrack for ever (T8)", () => {
  expect(evaluate("ctx.input.name.matches('^(a+)+$')")).toBe("EXPRESSION_SYNTAX");
});

test("a loop inside a loop ranges over the outer element only, so work stays with the data", () => {
  expect(evaluate("ctx.input.orders.exists(o, o.items.exists(i, i.price > 10))")).toBe(true);
  expect(evaluate("ctx.input.tags.all(a, ctx.input.tags.exists(b, a == b))")).toBe(
    "EXPRESSION_SYNTAX",
  );
  expect(evaluate("ctx.input.name.split('').all(c, c != 'z')")).toBe("EXPRESSION_SYNTAX");
  const long = scopeOf({ input: Array.from({ length: 5_000 }, () => 1), nodes: {}, vars: {} }, {});
  expect(evaluate("ctx.input.all(i, i == 1)", long)).toBe("condition_too_costly");
});
