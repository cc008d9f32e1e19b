import { expect, test } from "vitest";
import { displayWidth, paintLine, safeText, wrapText } from "./spans.ts";

const ESCAPE = "\u001b";

test("text from a workflow cannot steer the terminal", () => {
  expect(safeText(`${ESCAPE}[2Jgone\u0007\u009b31m\u202e`)).toBe("[2Jgone31m");
  const painted = paintLine([{ text: `${ESCAPE}]0;title` }], { width: 80, hasColour: true });
  expect(painted).not.toContain(ESCAPE);
});

test("a line is cut to the width by columns, colour or not", () => {
  const line = [{ text: "日本語", style: "red" as const }, { text: " and more" }];
  const plain = paintLine(line, { width: 9, hasColour: false });
  expect(plain).toBe("日本語 a…");
  expect(displayWidth(plain)).toBe(9);
  expect(paintLine(line, { width: 9, hasColour: true })).toBe(`${ESCAPE}[31m日本語${ESCAPE}[0m a…`);
});

test("text wraps at spaces, and inside a word only where the word is longer than the line", () => {
  expect(wrapText("Off was and placed what doubled", 20)).toEqual([
    "Off was and placed",
    "what doubled",
  ]);
  expect(wrapText("placed what", 11)).toEqual(["placed what"]);
  expect(wrapText("a  b", 80)).toEqual(["a  b"]);
  expect(wrapText("ab日本c", 4)).toEqual(["ab日", "本c"]);
  expect(wrapText("so incomprehensibly", 8)).toEqual(["so", "incompre", "hensibly"]);
  expect(wrapText("", 8)).toEqual([""]);
});
