import { expect, test } from "vitest";
import { readField } from "./field.ts";
import { placeViolations } from "./draft.ts";

const form = readField({
  type: "object",
  properties: {
    amount: { type: "number" },
    tags: { type: "array", items: { enum: ["a"] } },
    to: { type: "object", properties: { name: { type: "string" } } },
  },
});
const broken = (path: string, message: string) => ({ path, message, reason: "CONTRACT_VIOLATION" });

test("a violation is shown at its field, at the field around it, or by itself", () => {
  expect(
    placeViolations(form, [
      broken("response_json.amount", "must be <= 1000"),
      broken("response_json.amount", "must be a multiple of 5"),
      broken("response_json.tags[0]", "must be equal to one of the allowed values"),
      broken("response_json.to", "must have required property 'name'"),
      broken("response_json", "must NOT have additional properties: x"),
      broken("comment", "is longer than 200 characters"),
    ]),
  ).toEqual({
    faults: {
      ".amount": "Must be <= 1000.",
      ".tags": "Must be equal to one of the allowed values.",
      ".to.name": "Must have required property 'name'.",
    },
    others: [
      "response_json: must NOT have additional properties: x",
      "comment: is longer than 200 characters",
    ],
  });
});

test("a response of one field takes every violation of the response", () => {
  const { faults, others } = placeViolations(readField({ type: "object" }), [
    broken("response_json.a[3].b", "must be string"),
  ]);
  expect([faults, others]).toEqual([{ "": "Must be string." }, []]);
});
