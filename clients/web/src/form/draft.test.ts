import { expect, test } from "vitest";
import { initialDraft, readDraft } from "./draft.ts";
import { readField } from "./field.ts";

const refund = readField({
  type: "object",
  required: ["amount", "paid"],
  properties: {
    amount: { type: "number", minimum: 0, maximum: 1000 },
    note: { type: "string", maxLength: 5 },
    paid: { type: "boolean" },
    by: { enum: ["card", "cash", null] },
    tags: { type: "array", items: { enum: ["a", "b", "c"] }, minItems: 2 },
    to: {
      type: "object",
      required: ["name"],
      properties: { name: { type: "string", minLength: 1 } },
    },
    version: { const: 2 },
  },
});

test("filled fields become the value, and empty optional fields are left out", () => {
  const draft = { ".amount": " 4.5 ", ".paid": [1], ".tags": [2, 0], ".note": "" };
  expect(readDraft(refund, draft)).toEqual({
    ok: true,
    value: { amount: 4.5, paid: false, tags: ["a", "c"], version: 2 },
  });
  const more = { ...draft, ".by": [2], ".to.name": "Ada" };
  expect(readDraft(refund, more)).toMatchObject({ value: { by: null, to: { name: "Ada" } } });
});

test("the form shows all errors at once, each at its field", () => {
  expect(readDraft(refund, { ".amount": "1e9", ".note": "too long", ".tags": [0] })).toEqual({
    ok: false,
    faults: {
      ".amount": "Must be at most 1000.",
      ".note": "Write at most 5 characters; these are 8.",
      ".paid": "Choose one.",
      ".tags": "Choose at least 2.",
    },
  });
  expect(readDraft(refund, {})).toMatchObject({ faults: { ".amount": "Fill this in." } });
});

test.each([
  [{ type: "number" }, "x", "Write a number."],
  [{ type: "number" }, "Infinity", "Write a number."],
  [{ type: "integer" }, "1.5", "Write a whole number."],
  [{ type: "integer" }, "9007199254740993", "This number is too large to be exact."],
  [{ type: "number", exclusiveMinimum: 0 }, "0", "Must be more than 0."],
  [{ type: "number", minimum: 1 }, "0", "Must be at least 1."],
  [{ type: "number", exclusiveMaximum: 1 }, "1", "Must be less than 1."],
  [{ type: "number", multipleOf: 5 }, "7", "Must be a multiple of 5."],
  [{ type: "string", minLength: 3 }, "é", "Write at least 3 characters; these are 1."],
  [{ type: "string", format: "date-time" }, "soon", "Give a date and a time."],
  [{ type: "object" }, "{", 'Write JSON, such as {"amount": 5}.'],
])("%j refuses %j", (schema, typed, fault) => {
  expect(readDraft(readField(schema), { "": typed })).toEqual({ ok: false, faults: { "": fault } });
});

test("a single value is a response too, and an empty one may be null", () => {
  expect(readDraft(readField({ type: "integer" }), { "": "7" })).toEqual({ ok: true, value: 7 });
  expect(readDraft(readField({ type: ["integer", "null"] }), {})).toEqual({
    ok: true,
    value: null,
  });
  expect(readDraft(readField({ type: "string" }), {})).toEqual({ ok: true, value: "" });
  expect(readDraft(readField(undefined), {})).toEqual({ ok: true, value: undefined });
});

test("a form begins with the schema's defaults, which stand for themselves", () => {
  const form = readField({
    default: { size: "m" },
    properties: {
      size: { enum: ["s", "m"] },
      count: { type: "integer", default: 3 },
      tags: { type: "array", items: { enum: ["a", "b"] }, default: ["b"] },
      more: { default: { x: 1 } },
      open: { type: "string" },
    },
  });
  const draft = initialDraft(form);
  expect(draft).toEqual({
    ".size": [1],
    ".count": "3",
    ".tags": [1],
    ".more": '{\n  "x": 1\n}',
  });
  expect(readDraft(form, draft)).toEqual({
    ok: true,
    value: { size: "m", count: 3, tags: ["b"], more: { x: 1 } },
  });
});

test("a date and a time become a moment with its zone", () => {
  const read = readDraft(readField({ type: "string", format: "date-time" }), {
    "": "2026-11-17T10:00",
  });
  expect(read).toEqual({ ok: true, value: new Date("2026-11-17T10:00").toISOString() });
});
