import { expect, test } from "vitest";
import { addPiece, draftText, EMPTY_DRAFT, formOf, inputOf, wordsOf } from "./words.ts";

test("a turn shows the text in its input or output, and other values as JSON (S4.41)", () => {
  expect(wordsOf("Hello")).toBe("Hello");
  expect(wordsOf({ text: "Hello", mood: 1 })).toBe("Hello");
  expect(wordsOf({ answer: "Yes", message: "No" })).toBe("No");
  expect(wordsOf({ total: 3 })).toBe('{\n  "total": 3\n}');
  expect(wordsOf([1])).toBe("[\n  1\n]");
  expect([wordsOf(undefined), wordsOf(null)]).toEqual(["", ""]);
});

test("the sample of a workflow decides how a text becomes its input", () => {
  expect(inputOf(formOf("a question"), 'say "hi"')).toBe('"say \\"hi\\""');
  expect(inputOf(formOf({ question: "?" }), "why")).toBe('{"question":"why"}');
  expect(inputOf(formOf(undefined), "why")).toBe('{"text":"why"}');
  expect(inputOf(formOf({ total: 1 }), '{"total":2}')).toBe('{"total":2}');
});

test("another claim of an execution replaces its text, and other executions are paragraphs", () => {
  const piece = (iteration: number, epoch: number, text: string) => ({
    ...{ nodeId: "clerk", iteration, epoch, text },
  });
  const pieces = [
    piece(1, 5, "Let me"),
    piece(1, 5, " look."),
    piece(2, 9, "Lost"),
    piece(2, 12, "Here."),
  ];
  const draft = pieces.reduce(addPiece, EMPTY_DRAFT);
  expect(draftText(draft)).toBe("Let me look.\n\nHere.");
  expect(draftText(EMPTY_DRAFT)).toBe("");
});
