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

/** Records are not edited. The index gives these a plainer title than their file. */
const RETITLED: ReadonlySet<number> = new Set([17, 23, 24, 58]);

test("every decision is linked by its own title, or by a plainer one", () => {
  const isRetitled = (file: string): boolean => RETITLED.has(Number(file.slice(0, 4)));
  const listed = rows
    .filter(({ file }) => file !== "")
    .map(({ file, title }) => ({ file, title: isRetitled(file) ? "" : title }));
  const own = decisions.map(({ path, text }) => ({
    file: path.slice(FOLDER.length),
    title: /^# (?:\d+[.:]?\s*)?(.*)$/m.exec(text)?.[1] ?? "",
  }));
  expect(listed).toEqual(
    own.map(({ file, title }) => ({ file, title: isRetitled(file) ? "" : title })),
  );
  const plainer = rows.filter(({ number }) => RETITLED.has(number));
  expect(plainer).toHaveLength(RETITLED.size);
  for (const { file, title } of plainer) {
    expect(title).not.toBe("");
    expect(title).not.toBe(own.find((decision) => decision.file === file)?.title);
  }
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
