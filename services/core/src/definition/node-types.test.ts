import { expect, test } from "vitest";
import { LIMITS } from "../data/limits.ts";
import { parseDefinition } from "./parse.ts";

const faultsOf = (type: string, config: unknown): string[] => {
  const nodes = [
    { id: "s", type: "start" },
    { id: "a", type, config },
  ];
  const parsed = parseDefinition(JSON.stringify({ nodes }));
  return parsed.ok
    ? []
    : parsed.violations.map(
        ({ path, reason }) => `${path.replace("nodes[1].config", "")} ${reason}`,
      );
};

test("each built-in type takes its own config (S3.24, S3.25, S3.26, S3.28, S3.29)", () => {
  expect(faultsOf("noop", {})).toEqual([]);
  expect(faultsOf("end", { output_parameters: { total: "{{ctx.total}}" } })).toEqual([]);
  expect(faultsOf("condition", { branches: [{ id: "yes", when: "ctx.n > 1" }] })).toEqual([]);
  expect(faultsOf("delay", { delay_ms: 500 })).toEqual([]);
  expect(faultsOf("delay", { delay_ms: "{{ctx.wait}}" })).toEqual([]);
  expect(
    faultsOf("javascript", {
      code: "const x = await ctx.a; return {{}}.y ?? x".replace("{{}}", "{}"),
    }),
  ).toEqual([]);
  expect(
    faultsOf("http", { url: "https://example.com/{{ctx.id}}", method: "POST", body: { a: 1 } }),
  ).toEqual([]);
  expect(faultsOf("text_stream", { text: "hello", chunk_chars: 2, interval_ms: 5 })).toEqual([]);
});

test("a type of another executor takes any config", () => {
  expect(faultsOf("acme.lens", { anything: [1, { goes: true }] })).toEqual([]);
});

test("unknown keys and wrong types of a built-in config are named", () => {
  expect(faultsOf("noop", { x: 1 })).toEqual([".x UNKNOWN_KEY"]);
  expect(faultsOf("delay", {})).toEqual([".delay_ms REQUIRED"]);
  expect(faultsOf("delay", { delay_ms: "soon" })).toHaveLength(1);
  expect(faultsOf("condition", { branches: [] })).toEqual([".branches OUT_OF_RANGE"]);
  expect(faultsOf("text_stream", { text: "x", chunk_chars: 0 })).toEqual([
    ".chunk_chars OUT_OF_RANGE",
  ]);
});

test("conditions are compiled when they are saved (T11, T13)", () => {
  const when = (text: string) => faultsOf("condition", { branches: [{ id: "b", when: text }] });
  expect(when("ctx.")).toEqual([".branches[0].when EXPRESSION_SYNTAX"]);
  expect(when("(".repeat(1_000))).toEqual([".branches[0].when EXPR_TOO_DEEP"]);
  expect(when("1 + 1")).toEqual([".branches[0].when CONDITION_TYPE"]);
});

test("branches have ids of their own, and error is taken", () => {
  const branch = (id: string) => ({ id, when: "true" });
  expect(faultsOf("condition", { branches: [branch("a"), branch("a")] })).toEqual([
    ".branches[1].id DUPLICATE_ID",
  ]);
  expect(faultsOf("condition", { branches: [branch("error")] })).toEqual([
    ".branches[0].id RESERVED_KEY",
  ]);
});

test("scripts are bounded and parse, or are refused when they are saved (S3.26)", () => {
  expect(faultsOf("javascript", { code: `"${"x".repeat(LIMITS.javascriptBytes)}"` })).toEqual([
    ".code JS_TOO_LARGE",
  ]);
  expect(faultsOf("javascript", { code: "return (" })).toEqual([".code JS_SYNTAX"]);
  expect(faultsOf("javascript", { code: "}); (() => {" })).toEqual([".code JS_SYNTAX"]);
  expect(faultsOf("javascript", { code: "if (ctx.a) {{ return 1 }}" })).toEqual([]);
});

test("addresses are http, and headers are one line (U8, T14)", () => {
  for (const url of ["file:///etc/passwd", "gopher://x", "data:,x", "not a url"])
    expect(faultsOf("http", { url }), url).toEqual([".url URL_BLOCKED"]);
  expect(faultsOf("http", { url: "http://a", headers: { x: "a\r\nb: c" } })).toEqual([
    ".headers.x HEADER_INJECTION",
  ]);
  expect(faultsOf("http", { url: "http://a", method: "BREW" })).toEqual([".method OUT_OF_RANGE"]);
});
