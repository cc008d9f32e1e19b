import { expect, test } from "vitest";
import { z } from "zod";
import { assignable } from "./assignable.ts";
import { embed, placeAt, rootPlace, type Schema, UNKNOWN } from "./schema.ts";

const text = { type: "string" };
const number = { type: "number" };

/** The answer in one line: yes, unknown, or the misfits with paths. */
function told(source: Schema, target: Schema, anyIsUnknown = true): string {
  const answer = assignable(source, target, { anyIsUnknown });
  if (answer.verdict !== "no") return answer.verdict;
  return answer.misfits
    .map(({ path, reason, fit }) => `${fit} ${path.join(".")}: ${reason}`)
    .join("; ");
}

const object = (
  properties: Readonly<Record<string, unknown>>,
  required = Object.keys(properties),
) => ({ type: "object", properties, required }) as const;

const zodOf = (schema: z.ZodType, io: "input" | "output"): Schema => z.toJSONSchema(schema, { io });

test("types, unions and literals fit or say what they are", () => {
  expect(told(text, text)).toBe("yes");
  expect(told({ type: "integer" }, number)).toBe("yes");
  expect(told(number, { type: "integer" })).toBe(
    "sometimes : is number and may have a fraction, expected integer",
  );
  expect(told(text, number)).toBe("never : is string, expected number");
  expect(told({ type: ["string", "null"] }, text)).toBe("sometimes : is null, expected string");
  expect(told(text, { anyOf: [text, { type: "null" }] })).toBe("yes");
  expect(told({ enum: ["a", "b"] }, { enum: ["a", "b", "c"] })).toBe("yes");
  expect(told({ enum: ["a", "d"] }, { enum: ["a", "b"] })).toBe(
    'sometimes : is "d", expected "a", "b"',
  );
  expect(told({ const: 5 }, { type: "integer", maximum: 4 })).toBe(
    "never : is outside of at most 4",
  );
  expect(told({ const: { a: [1] } }, object({ a: { type: "array", items: text } }))).toBe(
    "never a.0: is integer, expected string",
  );
});

test("objects name every property that is missing, wrong or not allowed", () => {
  expect(told(object({ a: text, b: number }), object({ a: text }))).toBe("yes");
  const closed = { ...object({ a: text, b: number }), additionalProperties: false };
  expect(told(closed, object({ a: text }))).toBe("yes");
  expect(told(closed, { ...object({ a: text }), additionalProperties: false })).toBe(
    "never b: is not allowed: the target has no such property",
  );
  expect(told(object({ a: text }), object({ a: number, c: text }))).toBe(
    "never c: is missing, but is required; never a: is string, expected number",
  );
  expect(told(object({ a: text }, []), object({ a: text }))).toBe(
    "sometimes a: may be absent, but is required",
  );
  expect(told({ type: "object" }, object({ a: text }))).toBe("unknown");
});

test("what one side does not describe, or describes in a way that is not compared, is unknown and no error", () => {
  for (const target of [text, { type: "string", pattern: "^a" }, { not: number }]) {
    expect(told(true, target)).toBe("unknown");
    expect(told({ description: "anything" }, target)).toBe("unknown");
  }
  expect(told(text, { type: "string", pattern: "^a" })).toBe("unknown");
  expect(told(text, { type: "string", format: "uuid" })).toBe("unknown");
  expect(told({ type: "string", if: text, else: {} }, number)).toBe(
    "never : is string, expected number",
  );
  expect(told({ $ref: "https://example.com/other" }, number)).toBe("unknown");
  expect(told(true, number, false)).toContain("sometimes");
});

test("schemas of zod, pydantic and Go structs meet across languages", () => {
  const order = z.object({
    id: z.uuid(),
    total: z.number(),
    lines: z.array(z.object({ sku: z.string(), count: z.int() })),
    note: z.string().nullable(),
    tags: z.record(z.string(), z.string()),
  });
  const pydantic = {
    $defs: {
      Line: {
        title: "Line",
        ...object({
          sku: { title: "Sku", ...text },
          count: { title: "Count", type: "integer" },
        }),
      },
    },
    title: "Order",
    ...object(
      {
        id: { type: "string", format: "uuid", title: "Id" },
        total: { title: "Total", ...number },
        lines: { type: "array", items: { $ref: "#/$defs/Line" } },
        note: { anyOf: [text, { type: "null" }], default: null },
        tags: { type: "object", additionalProperties: text },
      },
      ["id", "total", "lines"],
    ),
  };
  expect(told(zodOf(order, "output"), pydantic)).toBe("yes");
  expect(told(pydantic, zodOf(order, "input"))).toBe(
    "sometimes note: may be absent, but is required; sometimes tags: may be absent, but is required",
  );
  const go = object({ lines: { type: ["array", "null"], items: { $ref: "#/$defs/L" } } });
  const line = { ...object({ sku: { type: "integer" }, count: { type: "integer" } }) };
  expect(told({ ...go, $defs: { L: line } }, pydantic)).toContain(
    "lines.*.sku: is integer, expected string",
  );
});

test("a discriminated union fits the one alternative that it names", () => {
  const shape = z.discriminatedUnion("kind", [
    z.object({ kind: z.literal("circle"), r: z.number() }),
    z.object({ kind: z.literal("square"), side: z.number() }),
  ]);
  const circle = {
    ...object({ kind: { const: "circle" }, r: number }),
    additionalProperties: false,
  };
  expect(told(circle, zodOf(shape, "input"))).toBe("yes");
  expect(told(zodOf(shape, "output"), zodOf(shape, "input"))).toBe("yes");
  expect(told(object({ kind: { const: "line" } }), zodOf(shape, "input"))).toContain("never");
});

test("recursive schemas are compared, and endless references are unknown", () => {
  const tree = (leaf: unknown): Schema => ({
    $ref: "#/$defs/T",
    $defs: { T: object({ v: leaf, kids: { type: "array", items: { $ref: "#/$defs/T" } } }) },
  });
  expect(told(tree(text), tree(text))).not.toContain("never");
  expect(told(tree(text), tree(number))).toContain("never v: is string, expected number");
  expect(told({ $ref: "#" }, text)).toBe("unknown");
});

test("a schema grows no answer that takes forever", () => {
  let wide: Schema = text;
  for (let level = 0; level < 40; level++)
    wide = { anyOf: [object({ a: wide }), object({ b: wide })] };
  const begun = performance.now();
  told(wide, structuredClone(wide));
  expect(performance.now() - begun).toBeLessThan(2_000);
});

test("a path leads to the schema of its value, or to the names that are there", () => {
  const root = {
    ...object({ lines: { type: "array", items: { $ref: "#/$defs/Line" } } }),
    $defs: { Line: object({ sku: text }) },
  };
  expect(placeAt(rootPlace(root), ["lines", 0, "sku"])).toMatchObject({
    found: "yes",
    place: { schema: text },
  });
  expect(placeAt(rootPlace(root), ["lines", 0, "sko"])).toEqual({
    found: "no",
    step: "sko",
    known: ["sku"],
  });
  expect(placeAt(rootPlace(true), ["lines"])).toEqual({ found: "unknown", place: UNKNOWN });
  const composed = { ...object({ order: embed(rootPlace(root)) }), additionalProperties: false };
  expect(told(composed, object({ order: object({ lines: text }) }))).toContain(
    "order.lines: is array, expected string",
  );
});
