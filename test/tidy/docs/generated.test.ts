// The generated parts of the pages agree with the code.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { EVENTS } from "@pawl/core/log/event-table";
import { REASONS } from "@pawl/core/fault/reason";
import { METRICS } from "@pawl/platform/telemetry/catalogue";
import { expect, test } from "vitest";
import { ROOT } from "../sources.ts";
import { BLOCKS, blockNames, fillBlocks, pagesWithBlocks } from "./blocks.ts";
import { facts } from "./events.ts";

const text = (path: string): string => readFileSync(join(ROOT, path), "utf8");
const pages = pagesWithBlocks();

test.each(pages)("the generated blocks of %s are current; npm run docs writes them", (path) => {
  expect(text(path)).toBe(fillBlocks(text(path)));
});

test("every generated block is part of a page, once", () => {
  const names = pages.flatMap((path) => blockNames(text(path)));
  expect(names.toSorted()).toEqual(Object.keys(BLOCKS).toSorted());
});

test("no generated row is without words", () => {
  const isEmpty = (row: string): boolean => /\|\s*\|$/.test(row);
  const rows = pages.flatMap((path) => fillBlocks(text(path)).split("\n").filter(isEmpty));
  expect(rows).toEqual([]);
});

test("the pages name every event, reason and metric", () => {
  const events = text("docs/reference/events.md");
  const missing = [
    ...facts().filter(({ type }) => !events.includes(`### \`${type}\``)),
    ...Object.keys(REASONS).filter((name) => !text("docs/reference/errors.md").includes(name)),
    ...Object.values(METRICS).filter(
      ({ name }) => !text("docs/reference/metrics.md").includes(name),
    ),
  ];
  expect(missing).toEqual([]);
  // A heartbeat is in the contract and never in a log.
  const types = facts().map(({ type }) => type);
  expect(types.filter((type) => type !== "heartbeat").toSorted()).toEqual(
    Object.keys(EVENTS).toSorted(),
  );
});
