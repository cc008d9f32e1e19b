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
  expect(when("[1]")).toEqual([".branches[0].when CONDITION_TYPE"]);
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

test("SQL is no template, and values are bound as parameters (S3.27)", () => {
  const query = { source: "orders", sql: "select * from orders where id = $1" };
  expect(faultsOf("dataQuery", { ...query, parameters: ["{{ctx.input.id}}"] })).toEqual([]);
  const spliced = { source: "orders", sql: "select * from orders where id = {{ctx.input.id}}" };
  expect(faultsOf("dataQuery", spliced)).toEqual([".sql TEMPLATE_IN_SQL"]);
  expect(faultsOf("dataQuery", { sql: "", parameters: ["{{"], max_rows: 0 })).toEqual([
    ".source REQUIRED",
    ".sql OUT_OF_RANGE",
    ".max_rows OUT_OF_RANGE",
    ".parameters[0] TEMPLATE_SYNTAX",
  ]);
});

test("a model is asked with a prompt or a conversation, not both (S1.41)", () => {
  const messages = [{ role: "user", content: "{{ctx.input}}" }];
  expect(faultsOf("llm", { model: "m", prompt: "Hi {{ctx.input.name}}" })).toEqual([]);
  expect(faultsOf("llm", { model: "m", messages, temperature: 0, max_tokens: 5 })).toEqual([]);
  expect(faultsOf("llm", { model: "m" })).toEqual([" WRONG_TYPE"]);
  expect(faultsOf("llm", { model: "m", prompt: "x", messages })).toEqual([" WRONG_TYPE"]);
  expect(faultsOf("llm", { prompt: "{{ctx.", temperature: 9, stream: 1 })).toEqual([
    ".model REQUIRED",
    ".temperature OUT_OF_RANGE",
    ".stream WRONG_TYPE",
    ".prompt TEMPLATE_SYNTAX",
  ]);
});

const body = { type: "http", config: { url: "http://x/{{item.id}}?n={{index}}" } };

test("maps, loops and subworkflows take their configs (S3.30)", () => {
  const items = "{{ctx.input.items}}";
  expect(faultsOf("map", { items, body })).toEqual([]);
  expect(faultsOf("map", { items: [1, 2], body, parallelism: 1_000 })).toEqual([]);
  expect(faultsOf("loop", { items, body, until: "output.done || index > 3" })).toEqual([]);
  expect(
    faultsOf("loop", { times: "{{ctx.n}}", body: { type: "task", retry: "standard" } }),
  ).toEqual([]);
  expect(faultsOf("subworkflow", { workflow_id: "other", input: { a: "{{ctx.a}}" } })).toEqual([]);
});

test("a body is of one type, with that type's config and the item in its templates (S3.30)", () => {
  const items = "{{ctx.input.items}}";
  const faults = (raw: unknown) => faultsOf("map", { items, body: raw });
  expect(faults({ type: "map", config: {} })).toEqual([".body.type BAD_BODY"]);
  expect(faults({ type: "condition", config: { branches: [{ id: "a", when: "true" }] } })).toEqual([
    ".body.type BAD_BODY",
  ]);
  expect(faults({ type: "noop", config: { x: 1 } })).toEqual([".body.config.x UNKNOWN_KEY"]);
  expect(faults({ type: "javascript", config: { code: "}" } })).toEqual([
    ".body.config.code JS_SYNTAX",
  ]);
  expect(faults({ type: "delay", config: { delay_ms: "{{previous}}" } })).toEqual([
    ".body.config.delay_ms TEMPLATE_SYNTAX",
  ]);
  expect(faults(undefined)).toEqual([".body REQUIRED"]);
  expect(faultsOf("map", { items: "{{item}}", body })).toEqual([".items TEMPLATE_SYNTAX"]);
  expect(faultsOf("http", { url: "http://x/{{index}}" })).toEqual([".url TEMPLATE_SYNTAX"]);
});

test("a map and a loop are bounded, and a loop has an end (S3.30, X13)", () => {
  expect(faultsOf("map", { items: "text", body })).toEqual([".items WRONG_TYPE"]);
  expect(faultsOf("map", { items: [], body, parallelism: 0 })).toEqual([
    ".parallelism OUT_OF_RANGE",
  ]);
  expect(faultsOf("map", { items: [], body, on_item_failure: "shrug" })).toEqual([
    ".on_item_failure OUT_OF_RANGE",
  ]);
  expect(faultsOf("loop", { body })).toEqual([" BAD_LOOP"]);
  expect(faultsOf("loop", { items: [], times: 1, body })).toEqual([" BAD_LOOP"]);
  expect(faultsOf("loop", { times: 10_001, body })).toEqual([".times OUT_OF_RANGE"]);
  expect(faultsOf("loop", { until: "output +", body })).toEqual([".until EXPRESSION_SYNTAX"]);
  expect(faultsOf("loop", { until: "true", body, max_iterations: 10_001 })).toEqual([
    ".max_iterations OUT_OF_RANGE",
  ]);
});

test("a map and a loop are left by loop, done or error (S3.30)", () => {
  const leaving = (source_handle: string) =>
    parseDefinition(
      JSON.stringify({
        nodes: [
          { id: "s", type: "start" },
          { id: "m", type: "map", config: { items: [], body: { type: "noop" } } },
          { id: "a", type: "noop" },
        ],
        edges: [
          { source: "s", target: "m" },
          { source: "m", target: "a", source_handle },
        ],
      }),
    );
  expect(["loop", "done", "error"].map((handle) => leaving(handle).ok)).toEqual([true, true, true]);
  expect(leaving("other")).toMatchObject({ violations: [{ reason: "UNDECLARED_HANDLE" }] });
});
