// The examples a first start registers.
import { readdirSync, readFileSync } from "node:fs";
import { parseDefinition } from "@pawl/core/definition/parse";
import { expect, test } from "vitest";

const folder = new URL("examples/", import.meta.url);
const files = readdirSync(folder).filter((name) => name.endsWith(".yaml"));

test("there are examples of a chain, a diamond and a fan", () => {
  expect(files).toEqual(["hello.yaml", "order-review.yaml", "shop-report.yaml"]);
});

test.each(files)("the example %s is a valid definition named after its file", (name) => {
  const parsed = parseDefinition(readFileSync(new URL(name, folder), "utf8"));
  expect(parsed).toMatchObject({ ok: true, definition: { id: name.replace(".yaml", "") } });
});
