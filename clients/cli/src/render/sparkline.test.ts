import { expect, test } from "vitest";
import { onTimeline, sparkLine } from "./sparkline.ts";

test("bars go from 0 to the largest value, and a value that is not 0 is higher than 0", () => {
  expect(sparkLine([0, 1, 50, 100], 10)).toBe("▁▂▅█");
  expect(sparkLine([0, 0], 10)).toBe("▁▁");
  expect(sparkLine([], 10)).toBe("");
});

test("an unknown value is a gap, and a narrow plot keeps every peak", () => {
  expect(sparkLine([4, undefined, 4], 10)).toBe("█ █");
  expect(sparkLine([0, 0, 9, 0, 0, 0, 0, 0], 4)).toBe("▁█▁▁");
});

test("points stand at their time, from the first to the last of the plot", () => {
  const points = [1_000, 3_000, 4_000].map((at) => ({ at }));
  expect(onTimeline(points, 1_000, 10)).toEqual([points[0], undefined, points[1], points[2]]);
  expect(onTimeline(points, 1_000, 2)).toEqual([points[1], points[2]]);
  expect(onTimeline([], 1_000, 10)).toEqual([]);
});
