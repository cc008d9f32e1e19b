import { expect, test } from "vitest";
import { displayWidth } from "./spans.ts";
import { tableLines } from "./table.ts";

const HEADS = ["RUN", "STATUS", "WORKFLOW", "ERROR"];
const row = (...cells: string[]) => cells.map((text) => ({ text }));
const ROW = row(
  "0a1b2c3d",
  "✖ failed",
  "research-and-summarise v1",
  "parse: unexpected token in JSON",
);

test("a table too wide for the terminal takes from its widest columns, never from ids and states", () => {
  const [head = "", line = ""] = tableLines(HEADS, [ROW], { width: 60, hasColour: false });
  expect(displayWidth(line)).toBeLessThanOrEqual(60);
  expect(head).toMatch(/^RUN {7}STATUS {4}WORKFLOW +ERROR$/);
  expect(line).toMatch(/^0a1b2c3d {2}✖ failed {2}research-and-.*… {2}parse: unexp.*…$/);
});

test("a table that fits is not cut", () => {
  const [, line] = tableLines(HEADS, [ROW], { width: 120, hasColour: false });
  expect(line).toBe(
    "0a1b2c3d  ✖ failed  research-and-summarise v1  parse: unexpected token in JSON",
  );
});

test("a cell is cut also where nothing limits the line", () => {
  const long = row("0a1b2c3d", "✖ failed", "w v1", "e".repeat(1_900));
  const [, line = ""] = tableLines(HEADS, [long], {
    width: Number.MAX_SAFE_INTEGER,
    hasColour: false,
  });
  expect(displayWidth(line)).toBeLessThan(200);
  expect(line).toMatch(/e…$/);
});

test("a terminal narrower than the heads still gets lines of its width", () => {
  for (const line of tableLines(HEADS, [ROW], { width: 20, hasColour: false }))
    expect(displayWidth(line)).toBeLessThanOrEqual(20);
});
