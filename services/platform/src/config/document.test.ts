import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { document } from "./document.ts";
import { ConfigFault, parseEnv } from "./env.ts";

const SCHEMA = z.object({
  PAWL_TEST: document(
    z.record(
      z.string(),
      z.strictObject({ size: z.int("expected a whole number"), word: z.string() }),
    ),
    "things by name",
  ),
});
const parse = (text?: string) => parseEnv(SCHEMA, text === undefined ? {} : { PAWL_TEST: text });

function file(text: string): string {
  const folder = mkdtempSync(join(tmpdir(), "pawl-document-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const path = join(folder, "things.yaml");
  writeFileSync(path, text);
  return path;
}

test("a document is JSON text, or a file of JSON or YAML, or absent", () => {
  const thing = { a: { size: 1, word: "x" } };
  expect(parse(JSON.stringify(thing)).PAWL_TEST).toEqual(thing);
  expect(parse(file(JSON.stringify(thing))).PAWL_TEST).toEqual(thing);
  expect(parse(file("a:\n  size: 1\n  word: x\n")).PAWL_TEST).toEqual(thing);
  expect(parse().PAWL_TEST).toEqual({});
});

test("every fault is named by its place, and no value is repeated", () => {
  const text = '{"a":{"size":"secret-1","word":"w"},"b":{"size":2,"word":3,"more":"secret-2"}}';
  let fault: unknown;
  try {
    parse(text);
  } catch (error) {
    fault = error;
  }
  const message = fault instanceof ConfigFault ? fault.message : "";
  for (const place of ["a.size: expected a whole number", "b.word", "b: "]) {
    expect(message).toContain(place);
  }
  expect(message).not.toContain("secret");
});

test.each([
  ["is broken", '{"a":', "JSON_SYNTAX"],
  ["is no file", "no/such/file.yaml", "the path of a file that can be read"],
  ["has a key twice", '{"a":{},"a":{}}', "JSON_DUPLICATE_KEY"],
])("a document that %s is refused", (_name, text, expected) => {
  expect(() => parse(text)).toThrow(expected);
});

test("a file that is neither JSON nor YAML is refused", () => {
  expect(() => parse(file("a: [1"))).toThrow("YAML_SYNTAX");
});
