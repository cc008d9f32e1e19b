// The store is sorted by noun. Every noun has the same files, and every difference has its reason here.

import { expect, test } from "vitest";
import { isTest, trackedPaths, trackedSources } from "./sources.ts";

const PLATFORM = "services/platform/src/";
const STORE = `${PLATFORM}store/`;
/** Five files for each noun, and those that all of them share. */
const FILES_OF_NOUN_MAX = 6;
const NOUNS = [
  "approvals",
  "archive",
  "assistants",
  "bulks",
  "days",
  "dead-letters",
  "effects",
  "filters",
  "leases",
  "log",
  "node-types",
  "pauses",
  "recovery",
  "retention",
  "runs",
  "schedules",
  "signals",
  "slots",
  "stats",
  "webhooks",
  "values",
  "threads",
  "workflows",
] as const;

/** Files of the pattern that a noun does not need. The store's README has the reasons for readers. */
const ABSENT = new Map([
  ["recovery/reads.ts", "no gateway reads it: its tables are those of runs, log and leases"],
  ["retention/reads.ts", "no gateway reads it: its tables are those of runs and log"],
  ["bulks/memory.ts", "a bulk is chosen by SQL, and only PostgreSQL compiles filters"],
  ["archive/memory.ts", "only retention and restores use it, and the memory store has neither"],
  ["retention/memory.ts", "the memory store lives for one test, and has no months"],
]);
/** Files beside the pattern. */
const PRESENT = new Map([
  ["runs/filter-sql.ts", "compiles what a user typed as a filter"],
  ["runs/search.ts", "reads what a user typed; workflows are found by the same words"],
  ["webhooks/memory-outbox.ts", "the calls in memory; the receivers are in memory.ts"],
  ["survey/reads.ts", "reads across nouns: it has no table, so no SQL, no writes and no twin"],
  ["tick/batch.ts", "the arrays of the two statements of a tick"],
  ["tick/journal.ts", "the interface of a tick's transaction"],
  ["tick/memory.ts", "the same in memory"],
  ["tick/postgres.ts", "the same on PostgreSQL"],
  ["tick/queries.sql", "the statements of a tick"],
  ["tick/transaction.ts", "one transaction on PostgreSQL"],
  ["memory/staging.ts", "what the memory store has instead of transactions"],
  ["memory/store.ts", "the tables of the memory store, and its parts put together"],
  ["page.ts", "pages of every list"],
]);

const files = trackedPaths((path) => path.startsWith(STORE) && !isTest(path))
  .filter((path) => !path.endsWith(".md"))
  .map((path) => path.slice(STORE.length))
  .toSorted();

test("the store has at most six files for each noun", () => {
  expect(files.length).toBeLessThanOrEqual(NOUNS.length * FILES_OF_NOUN_MAX);
});

test("every noun of the store has the same files, and each difference has a reason", () => {
  const pattern = NOUNS.flatMap((noun) =>
    [`${noun}.ts`, "reads.ts", "writes.ts", "memory.ts", "queries.sql"].map(
      (name) => `${noun}/${name}`,
    ),
  ).filter((path) => !ABSENT.has(path));
  expect(files).toEqual([...pattern, ...PRESENT.keys()].toSorted());
});

test("the README of the store names every noun, and exactly the folders that differ", () => {
  const pages = trackedSources((path) => path === `${STORE}README.md`);
  const text = pages.map((page) => page.text).join("");
  const named = /Each noun is a folder:\n\n([^.]*)\./.exec(text)?.[1] ?? "";
  const nouns = [...named.matchAll(/`([^`]+)`/g)].map(([, noun]) => noun);
  expect(new Set(nouns)).toEqual(new Set(NOUNS));
  const differing = [...ABSENT.keys(), ...PRESENT.keys()]
    .filter((path) => path.includes("/"))
    .map((path) => path.slice(0, path.indexOf("/")));
  const explained = [...text.matchAll(/^- `([a-z-]+)\/`/gm)].map(([, folder]) => folder);
  // The README describes these two outside of the list: they are no nouns.
  const own = new Set(["tick", "memory"]);
  expect(new Set(explained)).toEqual(new Set(differing.filter((folder) => !own.has(folder))));
});

test("the README of the store lists exactly the states that our statements raise", () => {
  const raising = trackedSources((path) => path.startsWith(PLATFORM) && !isTest(path));
  const raised = raising.flatMap(({ text }) => text.match(/(?<=['"])PW\d{3}(?=['"])/g) ?? []);
  const page = trackedSources((path) => path === `${STORE}README.md`)[0]?.text ?? "";
  expect(new Set(page.match(/PW\d{3}/g))).toEqual(new Set(raised));
});
