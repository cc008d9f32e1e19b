import { expect, test } from "vitest";
import { applySets, readRunInput } from "./run-input.ts";
import type { Host } from "./session.ts";

const setup = (files: Readonly<Record<string, string>> = {}): Host => ({
  terminal: {
    write: () => {},
    writeError: () => {},
    isTty: false,
    hasColour: false,
    width: () => 80,
    height: () => 24,
  },
  version: "1.2.3",
  defaultAddress: "",
  self: "pawl",
  connect: () => {
    throw new Error("no gateway here");
  },
  readText: async (path) => files[path] ?? "",
  runTool: async () => 0,
  now: () => 0,
  interrupted: new AbortController().signal,
});

test("a byte order mark that an editor put into a file is not part of its JSON", async () => {
  const host = setup({ "in.json": '\ufeff{"a":1}' });
  expect(await readRunInput(host, { input: "@in.json" })).toBe('{"a":1}');
});

test("text given as input is passed on to the letter", async () => {
  const text = '{"big": 12345678901234567890}';
  expect(await readRunInput(setup(), { input: text })).toBe(text);
  expect(await readRunInput(setup({ "in.json": text }), { input: "@in.json" })).toBe(text);
});

test("no flag means no input", async () => {
  expect(await readRunInput(setup(), {})).toBeUndefined();
});

test("--set puts values over the input by path, JSON where it reads as JSON", async () => {
  const flags = { input: '{"user":{"name":"Bo"}}', set: ["user.age=7", "city=Kiel", 'tags=["a"]'] };
  expect(JSON.parse((await readRunInput(setup(), flags)) ?? "")).toEqual({
    user: { name: "Bo", age: 7 },
    city: "Kiel",
    tags: ["a"],
  });
});

test("--set cannot reach a prototype", () => {
  const value = applySets({}, ["__proto__.polluted=true"]);
  expect(Object.hasOwn(Object(value), "__proto__")).toBe(true);
  expect(Object(value).polluted).toBeUndefined();
});

test("input that is not JSON is a mistake of usage that says what to write", async () => {
  await expect(readRunInput(setup(), { input: "{name}" })).rejects.toThrow(/--input is not JSON/);
  expect(() => applySets({}, ["novalue"])).toThrow(/key=value/);
});
