import { assignable } from "@pawl/core/schema/assignable";
import type { Schema } from "@pawl/core/schema/schema";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { compileContract } from "./contract.ts";

fc.configureGlobal({ seed: 1 });

const scalar = fc.constantFrom<unknown>(
  null,
  true,
  false,
  0,
  1,
  2,
  3,
  2.5,
  -1,
  "",
  "a",
  "ab",
  "abc",
);
const key = fc.constantFrom("a", "b", "c");
const value = fc.letrec<{ readonly any: unknown }>((tie) => ({
  any: fc.oneof(
    { depthSize: "small", maxDepth: 3 },
    scalar,
    fc.array(tie("any"), { maxLength: 3 }),
    fc.dictionary(key, tie("any"), { maxKeys: 3 }),
  ),
})).any;

const count = fc.nat({ max: 3 });
const optional = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined });
/** Leaves out what is undefined, as JSON does. */
const compact = (schema: Readonly<Record<string, unknown>>): Schema =>
  Object.fromEntries(Object.entries(schema).filter(([, part]) => part !== undefined));

const schemas = fc.letrec<{ readonly any: Schema; readonly part: Schema }>((tie) => ({
  part: fc.oneof({ maxDepth: 3, depthSize: "small" }, fc.boolean(), tie("any")),
  any: fc.oneof(
    { maxDepth: 3, depthSize: "small" },
    fc.record({ const: scalar }),
    fc.record({ enum: fc.array(scalar, { minLength: 1, maxLength: 4 }) }),
    fc.record({
      type: fc.uniqueArray(
        fc.constantFrom("null", "boolean", "integer", "number", "string", "array", "object"),
        { minLength: 1, maxLength: 3 },
      ),
    }),
    fc
      .record({
        type: fc.constantFrom("integer", "number"),
        minimum: optional(count),
        maximum: optional(count),
        exclusiveMinimum: optional(count),
        exclusiveMaximum: optional(count),
        multipleOf: optional(fc.constantFrom(1, 2)),
      })
      .map(compact),
    fc
      .record({
        type: fc.constant("string"),
        minLength: optional(count),
        maxLength: optional(count),
        pattern: optional(fc.constantFrom("^a", "b$")),
      })
      .map(compact),
    fc
      .record({
        type: fc.constant("array"),
        items: optional(tie("part")),
        prefixItems: optional(fc.array(tie("part"), { minLength: 1, maxLength: 2 })),
        minItems: optional(count),
        maxItems: optional(count),
        uniqueItems: optional(fc.boolean()),
      })
      .map(compact),
    fc
      .record({
        type: optional(fc.constant("object")),
        properties: optional(fc.dictionary(key, tie("part"), { maxKeys: 3 })),
        required: optional(fc.uniqueArray(key, { maxLength: 2 })),
        additionalProperties: optional(tie("part")),
        minProperties: optional(fc.constantFrom(0, 1)),
      })
      .map(compact),
    fc
      .record({
        combine: fc.constantFrom("anyOf", "oneOf", "allOf"),
        parts: fc.array(tie("part"), { minLength: 1, maxLength: 3 }),
      })
      .map(({ combine, parts }) => ({ [combine]: parts })),
    fc.record({ not: tie("part") }),
  ),
})).any;

/** Pairs of any schemas, and pairs of which one contains the other: there are few good answers among the first. */
const pairs = fc.oneof(
  fc.tuple(schemas, schemas),
  fc.tuple(schemas, schemas).map(([one, other]) => [one, { anyOf: [other, one] }] as const),
  fc.tuple(schemas, schemas).map(([one, other]) => [{ allOf: [one, other] }, one] as const),
  schemas.map((one) => [one, structuredClone(one)] as const),
);

/** The values that a schema takes. */
const taken = (schema: Schema, values: readonly unknown[]): ReadonlySet<unknown> => {
  const contract = compileContract(schema, "input");
  return new Set(values.filter((each) => contract(each).length === 0));
};

test("after yes, the target takes every value of the source; after a no of disjoint schemas, no value is a value of both", () => {
  const answers = { yes: 0, no: 0, disjoint: 0, unknown: 0 };
  fc.assert(
    fc.property(
      pairs,
      fc.array(value, { minLength: 8, maxLength: 24 }),
      ([source, target], values) => {
        const answer = assignable(source, target, { anyIsUnknown: false });
        answers[answer.verdict] += 1;
        if (answer.verdict === "no" && answer.disjoint) answers.disjoint += 1;
        else if (answer.verdict !== "yes") return;
        const [own, wanted] = [taken(source, values), taken(target, values)];
        const wrong = [...own].filter((each) => wanted.has(each) !== (answer.verdict === "yes"));
        expect(wrong).toEqual([]);
      },
    ),
    { numRuns: 2_000 },
  );
  expect(Object.values(answers).every((times) => times > 100)).toBe(true);
});
