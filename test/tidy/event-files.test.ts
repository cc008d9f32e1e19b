// A new event type is added in at most six files, of which five are required. CONTRIBUTING lists them, and no other source file has to
// name every type.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { EventType } from "@pawl/core/log/event";
import { EVENTS, rowOf } from "@pawl/core/log/event-table";
import { expect, test } from "vitest";
import { isForeign, isTest, ROOT, trackedSources, type Source } from "./sources.ts";

// The keys of a literal table are exactly its declared ones.
const TYPES = Object.keys(EVENTS) as EventType[];

/** The two halves of the table: a type is in one of them. */
const TABLE = ["services/core/src/log/run-events.ts", "services/core/src/log/node-events.ts"];
const FOLD = "services/core/src/log/fold.ts";
/** These name every type. */
const EVERY = [
  "proto/pawl/v1/event.proto",
  "services/platform/src/wire/event.ts",
  "clients/ts/src/from-wire.ts",
];

/** The sixth file: only an event touches it that shows more of a node or a run than its status and reason. */
const VIEWS = ["services/core/src/log/view-node.ts", "services/core/src/log/view.ts"];

/** The paths in the recipe for a new event. */
function recipe(): string[] {
  const text = readFileSync(join(ROOT, "CONTRIBUTING.md"), "utf8");
  const paragraph = text.split("\n").find((each) => each.startsWith("- **New event**")) ?? "";
  return [...paragraph.matchAll(/`([\w/.-]+\/[\w.-]+\.(?:ts|proto))`/g)].map(
    ([, path = ""]) => path,
  );
}

/** node.timed_out as quoted text, as a case of the wire, as a field or as a message. */
const spellings = (type: EventType): RegExp => {
  const words = type.split(/[._]/);
  const joined = words.map((word) => `${word.charAt(0).toUpperCase()}${word.slice(1)}`).join("");
  const camel = joined.charAt(0).toLowerCase() + joined.slice(1);
  return new RegExp(
    `["']${type.replaceAll(".", "\\.")}["']|// ${type}$|\\b${camel}\\b|\\b${joined}Schema\\b`,
    "m",
  );
};

const namedIn = ({ text }: Source): EventType[] =>
  TYPES.filter((type) => spellings(type).test(text));

/** The types for which a file has a case of its own. */
const casesIn = ({ text }: Source): EventType[] =>
  TYPES.filter((type) => text.includes(`case "${type}":`));

const sources = trackedSources(
  (path) =>
    /\.(ts|tsx|mjs|sql|proto)$/.test(path) &&
    !isForeign(path) &&
    !isTest(path) &&
    // A migration stays as it was written.
    !path.includes("/migrations/"),
);
const sourceOf = (path: string): Source => {
  const found = sources.find((source) => source.path === path);
  if (found === undefined) throw new Error(`no file ${path}`);
  return found;
};

test("CONTRIBUTING lists the five files of every new event type, and the sixth of one that shows more", () => {
  expect(recipe().toSorted()).toEqual([...TABLE, FOLD, ...EVERY, ...VIEWS].toSorted());
  const inBoth = TYPES.filter((type) =>
    TABLE.every((path) => sourceOf(path).text.includes(`"${type}": {`)),
  );
  // A type is in one half of the table, so its author opens one of the two files.
  expect(inBoth).toEqual([]);
  const required = [TABLE[0], FOLD, ...EVERY];
  expect(required).toHaveLength(5);
  // An event that only has a status and a reason needs no case in a view.
  const shown = new Set(VIEWS.flatMap((path) => casesIn(sourceOf(path))));
  expect(shown.has("node.skipped")).toBe(false);
  expect(shown.has("node.log")).toBe(true);
});

test("each file of the list names the types that it must", () => {
  for (const path of EVERY) expect([path, namedIn(sourceOf(path))]).toEqual([path, TYPES]);
  const isFolded = (type: EventType): boolean => {
    const { run, runOf, node } = rowOf(type) ?? {};
    return (run ?? runOf ?? node) !== undefined;
  };
  expect(namedIn(sourceOf(FOLD))).toEqual(expect.arrayContaining(TYPES.filter(isFolded)));
});

test("no other source file names more than half of the types", () => {
  const long = sources.filter((source) => namedIn(source).length > TYPES.length / 2);
  expect(long.map(({ path }) => path).filter((path) => !recipe().includes(path))).toEqual([]);
  expect(long.map(({ path }) => path)).toEqual(expect.arrayContaining(EVERY));
});
