import { expect, test } from "vitest";
import { type Field, readField } from "./field.ts";

/** Fields as `key kind`, with a star where one is required. */
const outline = (field: Field): string[] =>
  field.kind === "group"
    ? field.fields.flatMap(outline)
    : [`${field.key} ${field.kind}${field.isRequired ? "*" : ""}`];

test("every simple shape of a schema is a field of its own kind", () => {
  const form = readField({
    type: "object",
    required: ["amount", "ok", "size"],
    properties: {
      amount: { type: "number", minimum: 0, exclusiveMaximum: 10, multipleOf: 0.5 },
      count: { type: ["integer", "null"] },
      ok: { type: "boolean" },
      size: { enum: ["s", "m", "l"] },
      tone: {
        oneOf: [
          { const: 1, title: "Kind" },
          { const: 2, title: "Firm" },
        ],
      },
      tags: { type: "array", items: { enum: ["a", "b"] }, minItems: 1 },
      when: { type: "string", format: "date" },
      fixed: { const: "v1" },
      address: {
        type: "object",
        required: ["street"],
        properties: { street: { type: "string" }, unitNumber: { type: "string" } },
      },
    },
  });
  expect(outline(form)).toEqual([
    ".amount number*",
    ".count number",
    ".ok choice*",
    ".size choice*",
    ".tone choice",
    ".tags choices",
    ".when text",
    ".fixed constant",
    ".address.street text*",
    ".address.unitNumber text",
  ]);
  const fields = form.kind === "group" ? form.fields : [];
  expect(fields[0]).toMatchObject({ min: 0, max: 10, isMinOut: false, isMaxOut: true, step: 0.5 });
  expect(fields[1]).toMatchObject({ isInteger: true, isNullable: true });
  expect(fields[4]).toMatchObject({ options: [{ label: "Kind", value: 1 }, { label: "Firm" }] });
});

test("a schema that no field fits becomes a JSON field, so that every schema can be answered", () => {
  for (const schema of [
    { type: "array", items: { type: "string" } },
    { type: "object" },
    { type: ["string", "number"] },
    { anyOf: [{ type: "string" }, { type: "number" }] },
    { $ref: "#/$defs/gone" },
    { $ref: "https://example.com/schema" },
    { $ref: "#" },
    true,
    false,
    undefined,
    7,
  ])
    expect(readField(schema).kind).toBe("json");
  expect(readField(undefined).isRequired).toBe(false);
  expect(readField(false).isRequired).toBe(true);
});

test("references within the document are followed, and circles of them end", () => {
  const $defs = {
    money: { type: "number", title: "Money" },
    tree: { type: "object", properties: { left: { $ref: "#/$defs/tree" } } },
  };
  const form = readField({ properties: { pay: { $ref: "#/$defs/money" } }, $defs });
  expect(form).toMatchObject({ kind: "group", fields: [{ kind: "number", label: "Money" }] });
  expect(outline(readField({ $ref: "#/$defs/tree", $defs }))).toEqual([
    ".left.left.left.left.left.left json",
  ]);
});

test("labels are the schema's, or the name as people write it", () => {
  const form = readField({
    properties: {
      unit_price: { type: "number" },
      noteText: { type: "string" },
      x: { title: "Why" },
    },
  });
  const labels = form.kind === "group" ? form.fields.map(({ label }) => label) : [];
  expect(labels).toEqual(["Unit price", "Note text", "Why"]);
});
