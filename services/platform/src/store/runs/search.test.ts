import { expect, test } from "vitest";
import { readRunSearch, workflowWords } from "./search.ts";

const ID = "01a1e904-7ae5-79e7-a8fe-0ab88918bc96";

test("the beginning of a run id is a range of ids, with hyphens or without", () => {
  expect(readRunSearch("01A1e904-7ae5")).toMatchObject({
    runFrom: "01a1e904-7ae5-0000-0000-000000000000",
    runTo: "01a1e904-7ae5-ffff-ffff-ffffffffffff",
  });
  expect(readRunSearch("01a1e904-")).toMatchObject({
    runFrom: "01a1e904-0000-0000-0000-000000000000",
  });
  expect(readRunSearch("01a1e9047ae5")).toMatchObject(rangeOf("01a1e904-7ae5"));
  expect(readRunSearch(` ${ID} `)).toMatchObject({ runFrom: ID, runTo: ID });
});

const rangeOf = (text: string) => {
  const { runFrom, runTo } = readRunSearch(text);
  return { runFrom, runTo };
};

test("a text that cannot begin a run id finds no run by id", () => {
  for (const text of ["0-1", "-", "greet", "01a1e904-7a-e5", `${ID}0`, "a b"])
    expect(rangeOf(text)).toEqual({ runFrom: null, runTo: null });
});

test("eight digits may also be the short id that lists print", () => {
  expect(readRunSearch("8918BC96").shortId).toBe("8918bc96");
  for (const text of ["8918bc9", "8918bc96a", "8918-c96", "research"])
    expect(readRunSearch(text).shortId).toBeNull();
});

test("several words are looked for one by one, the longest first", () => {
  expect(readRunSearch("Two hundred")).toMatchObject({
    word: "two hundred",
    longestWord: "hundred",
    otherWords: ["two"],
  });
  expect(readRunSearch("refund-x")).toMatchObject({ word: "refund-x", longestWord: "refund" });
  expect(readRunSearch("refund")).toMatchObject({ longestWord: null, otherWords: [] });
  expect(readRunSearch("-.-")).toMatchObject({ word: "-.-", longestWord: null, otherWords: [] });
});

test("a workflow is found by its id, and by the words of its id and title", () => {
  expect(workflowWords("Close-the_Tills", "Close 200 tills, née Überkassen")).toEqual([
    "close-the_tills",
    "close",
    "the",
    "tills",
    "200",
    "née",
    "überkassen",
  ]);
});
