// The index of decisions names every decision once, by its own title, with its status.
import { expect, test } from "vitest";
import { trackedSources } from "../sources.ts";

const FOLDER = "services/decisions/";
const INDEX = `${FOLDER}README.md`;
const files = trackedSources((path) => path.startsWith(FOLDER));
const decisions = files.filter(({ path }) => path !== INDEX);
const index = files.find(({ path }) => path === INDEX)?.text ?? "";

interface Row {
  readonly number: number;
  readonly title: string;
  readonly file: string;
  readonly status: string;
}

/** `| 12 | [title](file) | status |`; a number that was never used has neither title nor file. */
const rows: readonly Row[] = [
  ...index.matchAll(/^\|\s*(\d+)\s*\|\s*(.*?)\s*\|\s*(.*?)\s*\|$/gm),
].map(([, number = "", cell = "", status = ""]) => {
  const [, title = "", file = ""] = /^\[(.*)\]\((.*)\)$/.exec(cell) ?? [];
  return { number: Number(number), title, file, status };
});

test("the index is in order and has no number twice", () => {
  const numbers = rows.map(({ number }) => number);
  expect(numbers).toEqual([...new Set(numbers)].toSorted((one, other) => one - other));
});

test("every decision is linked by its own title", () => {
  const listed = rows.filter(({ file }) => file !== "").map(({ file, title }) => ({ file, title }));
  const own = decisions.map(({ path, text }) => ({
    file: path.slice(FOLDER.length),
    title: /^# (?:\d+[.:]?\s*)?(.*)$/m.exec(text)?.[1] ?? "",
  }));
  expect(listed).toEqual(own);
});

test("every status is a known one, and names a decision that exists", () => {
  const known = new Set(rows.filter(({ file }) => file !== "").map(({ number }) => number));
  const faults = rows.filter(({ file, status }) => {
    if (file === "") return !status.startsWith("never written");
    const by = /^(?:superseded|amended) by (\d+)\b/.exec(status)?.[1];
    return status !== "accepted" && !(by !== undefined && known.has(Number(by)));
  });
  expect(faults).toEqual([]);
});
