// The policy of retention as an operator writes it.

import { expect, test } from "vitest";
import { leastAgeMs, readRetention } from "./retention.ts";

const DAY_MS = 86_400_000;

test("the most particular entry of a retention policy counts, and an entry may say for ever", () => {
  const policy = readRetention(
    "all=90d, failed=forever, pay/all=7d, pay/failed=12h, audit/all=forever, deltas=30m",
  );
  const ofStatus = (status: string) => policy?.statuses.find((each) => each.status === status);
  expect(ofStatus("completed")?.ageMs).toBe(90 * DAY_MS);
  expect(ofStatus("completed")?.workflows.get("pay")).toBe(7 * DAY_MS);
  expect(ofStatus("completed")?.workflows.get("audit")).toBe(Infinity);
  expect(ofStatus("failed")?.ageMs).toBe(Infinity);
  expect(ofStatus("failed")?.workflows.get("pay")).toBe(DAY_MS / 2);
  expect(policy?.statuses.map(leastAgeMs)).toEqual([7, 0.5, 7, 7].map((days) => days * DAY_MS));
  expect(policy?.deltasMs).toBe(30 * 60_000);
});

test("without entries nothing is removed, and a status that is kept for ever has no rule", () => {
  expect(readRetention("")).toEqual({ statuses: [], deltasMs: Infinity });
  const policy = readRetention("completed=1s");
  expect(policy?.statuses).toEqual([{ status: "completed", ageMs: 1_000, workflows: new Map() }]);
});

test.for([
  ["an age without a unit", "all=90"],
  ["an age of nothing", "all=0d"],
  ["a word that is no status", "done=90d"],
  ["a status in which no run ends", "running=1d"],
  ["a subject twice", "all=1d,all=2d"],
  ["two ages", "all=1d=2d"],
  ["deltas of a workflow", "pay/deltas=1d"],
  ["a name that no workflow has", ".pay/all=1d"],
])("a retention policy with %s is refused", ([, text = ""]) => {
  expect(readRetention(text)).toBeUndefined();
});
