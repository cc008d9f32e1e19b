import * as fc from "fast-check";
import { expect, test } from "vitest";
import { LIMITS } from "./limits.ts";
import { scopeOf } from "./scope.ts";
import { compileTemplate, render } from "./template.ts";

fc.configureGlobal({ seed: 1 });

const scope = scopeOf(
  {
    input: { name: "Ada", n: 3 },
    nodes: { fetch: { body: [{ id: 7 }] } },
    vars: { user: { on: true }, empty: null },
  },
  { prompt: "hello" },
);
const rendered = (value: unknown, options = {}): unknown => {
  const result = render(value, scope, options);
  return result.ok ? result.value : `${result.reason} ${result.path}`.trim();
};
const reasonOf = (text: string): string => {
  const compiled = compileTemplate(text);
  return compiled.ok ? "ok" : compiled.reason;
};

test("a lone expression keeps its type; mixed text gives a string (S3.31)", () => {
  expect(rendered("{{ctx.input.n}}")).toBe(3);
  expect(rendered("{{ ctx.nodes.fetch.body }}")).toEqual([{ id: 7 }]);
  expect(rendered("{{ctx.vars.user.on}}")).toBe(true);
  expect(rendered("{{ctx.empty}}")).toBe(null);
  expect(rendered("n is {{ctx.input.n}}")).toBe("n is 3");
  expect(rendered("{{ctx.input.name}}{{ctx.input.n}}")).toBe("Ada3");
  expect(rendered("got {{ctx.nodes.fetch.body[0]}}")).toBe('got {"id":7}');
  expect(rendered(" {{ctx.input.n}}")).toBe(" 3");
});

test("a variable x is ctx.vars.x and ctx.x, and input is the node's own parameters (S3.15)", () => {
  expect(rendered("{{ctx.user.on}}")).toBe(true);
  expect(rendered("{{input.prompt}}")).toBe("hello");
});

test("every text inside a value is rendered, and nothing else is touched", () => {
  expect(rendered({ a: ["{{ctx.input.n}}", 1, null], b: { c: "x{{ctx.input.n}}" } })).toEqual({
    a: [3, 1, null],
    b: { c: "x3" },
  });
});

test("a missing path names itself, or is empty where defaults are substituted (S1.25, T7)", () => {
  expect(rendered("{{ctx.nodes.gone.x}}")).toBe("missing_variable ctx.nodes.gone.x");
  expect(rendered("{{ctx.nodes.gone.x}}", { substituteDefault: true })).toBe("");
  expect(rendered("a{{ctx.gone}}b", { substituteDefault: true })).toBe("ab");
});

test("escaped braces are braces", () => {
  expect(rendered("\\{{ctx.input.n}}")).toBe("{{ctx.input.n}}");
  expect(rendered("}} and { {")).toBe("}} and { {");
});

test("a path without a value is named, and so is a node that is not a completed parent", () => {
  const messageOf = (text: string) => {
    const result = render(text, scope);
    return result.ok ? "" : result.message;
  };
  expect(messageOf("{{ctx.nodes.fetch.total}}")).toBe("ctx.nodes.fetch.total has no value");
  expect(messageOf("{{ctx.nodes.cost.total}}")).toBe(
    'ctx.nodes.cost.total has no value: this node has no completed parent "cost"',
  );
});

test("calls, operators and unclosed braces are TEMPLATE_SYNTAX; prototypes are RESERVED_KEY (T1, T2)", () => {
  expect(reasonOf("{{ctx.__proto__.x}}")).toBe("RESERVED_KEY");
  expect(reasonOf("{{ctx.constructor.constructor('return process')()}}")).toBe("TEMPLATE_SYNTAX");
  for (const text of [
    "{{",
    "{{ctx.a",
    "{{}}",
    "{{ctx.a + 1}}",
    "{{process.env}}",
    "{{a}}",
    "{{ctx.f()}}",
  ])
    expect(reasonOf(text), text).toBe("TEMPLATE_SYNTAX");
});

test("holes and growth are bounded (T4, T5)", () => {
  expect(reasonOf("{{ctx.a}}".repeat(LIMITS.templateHoles + 1))).toBe("TEMPLATE_TOO_LARGE");
  expect(reasonOf(`{{ctx.a}}${"x".repeat(LIMITS.templateBytes)}`)).toBe("TEMPLATE_TOO_LARGE");
  const big = scopeOf({ input: "x".repeat(200_000), nodes: {}, vars: {} }, {});
  const grown = render("{{ctx.input}}".repeat(900), big);
  expect(grown).toMatchObject({ ok: false, reason: "output_too_large" });
  const many = render(
    Array.from({ length: 900 }, () => "{{ctx.input}}"),
    big,
  );
  expect(many).toMatchObject({ ok: false, reason: "output_too_large" });
});

test("no text makes compiling or rendering throw", () => {
  const piece = fc.constantFrom(
    "{{",
    "}}",
    "ctx",
    ".",
    "[0]",
    "input",
    " ",
    "\\",
    "{",
    "a",
    "__proto__",
    '"',
    "'",
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
      const text = pieces.join("");
      const result = render(text, scope);
      if (!text.includes("{{")) expect(result).toEqual({ ok: true, value: text });
    }),
    { numRuns: 1_000 },
  );
});
