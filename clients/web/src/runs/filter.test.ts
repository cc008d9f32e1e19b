import { RunStatus, RunStatusSchema } from "@pawl/proto/pawl/v1/run_pb";
import { expect, test } from "vitest";
import { isRunId, STATUS_FILTERS, statusFilter, stepChoice, searchOf } from "./filter.ts";

test("every status is in exactly one filter", () => {
  const covered = STATUS_FILTERS.flatMap((filter) => filter.statuses).toSorted((a, b) => a - b);
  const all = RunStatusSchema.values.map((value) => value.number).filter((number) => number !== 0);
  expect(covered).toEqual(all);
  expect(statusFilter("failed")?.statuses).toEqual([RunStatus.FAILED]);
  expect(statusFilter("timed_out")?.statuses).toEqual([RunStatus.TIMEOUT]);
  expect(statusFilter("nonsense")?.label).toBe("All");
});

test("j and k stay within the list", () => {
  expect(stepChoice(-1, 1, 3)).toBe(0);
  expect(stepChoice(2, 1, 3)).toBe(2);
  expect(stepChoice(0, -1, 3)).toBe(0);
  expect(stepChoice(0, 1, 0)).toBe(-1);
});

test("a pasted run id is known from a workflow id", () => {
  expect(isRunId("0199d3a0-7b1c-7c52-9d41-5f0c2a7e91b4")).toBe(true);
  expect(isRunId("order-review")).toBe(false);
});

test("a text that compares something is a filter, and any other is a search for words (S4.23)", () => {
  for (const text of ["status = failed", "metadata:team", "duration>5s"])
    expect(searchOf(text)).toEqual({ filter: text });
  for (const text of ["", "refund", "019a8b3e-1111", "Close 200 tills"])
    expect(searchOf(text)).toEqual({ query: text });
});
