import { expect, test } from "vitest";
import { LIMITS } from "../data/limits.ts";
import { jobPriority } from "./priority.ts";

test("a job has the sum of its run's and its node's priority, within the bounds of one (S0.4)", () => {
  expect(jobPriority(5, -7)).toBe(-2);
  expect(jobPriority(LIMITS.priorityMax, 1)).toBe(LIMITS.priorityMax);
  expect(jobPriority(-LIMITS.priorityMax, -1)).toBe(-LIMITS.priorityMax);
});
