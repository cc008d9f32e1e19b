// Streams as lines.
import { expect, test } from "vitest";
import { streamLines } from "./stream-lines.ts";

test("pieces become lines at a space, each node by itself, and nothing is lost at the end", () => {
  const lines = streamLines();
  const words = Array.from({ length: 30 }, (_, at) => `word${at} `);
  const said = words.flatMap((word) => [...lines.add("one", word), ...lines.add("two", "x")]);
  said.push(...lines.flush("one"));
  expect(said.map((line) => line.replace("one ▏ ", "")).join(" ")).toBe(words.join("").trim());
  expect(said.length).toBeGreaterThan(1);
  expect(lines.flush("two")).toEqual([`two ▏ ${"x".repeat(30)}`]);
  expect(lines.flush("two")).toEqual([]);
});

test("a line break ends a line, and empty ones are left out", () => {
  const lines = streamLines();
  expect(lines.add("one", "first\n\nsecond\nthi")).toEqual(["one ▏ first", "one ▏ second"]);
  expect(lines.flush("one")).toEqual(["one ▏ thi"]);
});
