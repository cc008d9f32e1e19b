import { expect, test } from "vitest";
import { compileContract, contractMessage } from "./contract.ts";

const check = (schema: Parameters<typeof compileContract>[0], value: unknown) =>
  compileContract(schema, "input")(value);

test("every broken rule is named by its place", () => {
  const schema = {
    type: "object",
    required: ["a", "gone"],
    properties: {
      a: { type: "array", uniqueItems: true, items: { $ref: "#/$defs/small" } },
      id: { format: "uuid" },
    },
    additionalProperties: false,
    $defs: { small: { type: "integer", maximum: 3 } },
  };
  expect(check(schema, { a: [1, 2], gone: 1 })).toEqual([
    { path: "input", message: "must NOT have additional properties: gone" },
  ]);
  const errors = check(schema, { a: [1, 1, 9, "x"], id: "y" });
  expect(errors.map(({ path }) => path).toSorted()).toEqual(
    ["input", "input.a", "input.a[2]", "input.a[3]", "input.id"].toSorted(),
  );
  expect(contractMessage("input", errors)).toMatch(/^input_contract_violation: .*\(and 2 more\)$/);
});

test("an error never repeats more than a little of the value", () => {
  const long = "secret".repeat(1_000);
  const schema = {
    properties: { a: { const: 1 }, b: { enum: [1] }, c: { pattern: "^x$" } },
    additionalProperties: false,
  };
  const errors = check(schema, { a: long, b: long, c: long, [long]: 1 });
  expect(errors).toHaveLength(4);
  expect(JSON.stringify(errors)).not.toContain(long.slice(0, 65));
});

test("a schema's own $id and unknown formats do not matter", () => {
  expect(check({ $id: "https://example.com/a", $ref: "#/$defs/b", $defs: { b: true } }, 1)).toEqual(
    [],
  );
  expect(check({ format: "made-up" }, "x")).toEqual([]);
});

const took = (run: () => unknown): number => {
  const began = performance.now();
  run();
  return performance.now() - began;
};

test("a catastrophic pattern costs no more than its text", () => {
  const contract = compileContract({ type: "string", pattern: "^(a+)+$" }, "input");
  const ms = took(() => {
    expect(contract(`${"a".repeat(50_000)}!`)).toHaveLength(1);
  });
  expect(ms).toBeLessThan(2_000);
});

test("a schema that doubles its work with every level is stopped", () => {
  const branch = { properties: { a: { $ref: "#" } }, required: ["a"] };
  const contract = compileContract({ anyOf: [branch, branch] }, "input");
  let value: unknown = {};
  for (let depth = 0; depth < 60; depth++) value = { a: value };
  const ms = took(() => {
    expect(contract(value)).toEqual([
      { path: "input", message: "takes more steps to check than are allowed" },
    ]);
  });
  expect(ms).toBeLessThan(5_000);
});

test("many distinct items are checked without comparing each pair", () => {
  const contract = compileContract({ type: "array", uniqueItems: true }, "input");
  const items = Array.from({ length: 50_000 }, (_, index) => ({ index }));
  expect(took(() => expect(contract(items)).toEqual([]))).toBeLessThan(5_000);
  expect(
    contract([
      { a: 1, b: 2 },
      { b: 2, a: 1 },
    ]),
  ).toHaveLength(1);
});

test("every pattern of a contract is its own", () => {
  const contract = compileContract(
    { properties: { a: { pattern: "^a" }, b: { pattern: "^b" } } },
    "input",
  );
  expect(contract({ a: "a", b: "b" })).toEqual([]);
  expect(contract({ a: "a", b: "a" })).toHaveLength(1);
});
