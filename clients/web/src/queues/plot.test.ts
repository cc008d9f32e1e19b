import { expect, test } from "vitest";
import { layoutPlot } from "./plot.ts";

const scale = { stepMs: 10, rangeMs: 100, endMs: 100 };
const at = (atMs: number, value: number) => ({ atMs, value });

test("points are placed by their time and their value, with room above the largest", () => {
  const plot = layoutPlot([at(0, 0), at(10, 11), at(20, 22)], scale);
  expect(plot).toMatchObject({ last: 22, peak: 22 });
  expect(plot?.top).toBeCloseTo(24.2);
  expect(plot?.line).toBe("M0 100L10 54.55L20 9.09");
  expect(plot?.area).toBe("M0 100L10 54.55L20 9.09L20 100L0 100Z");
});

test("a time without samples is a gap in the line, and a lone sample is a dash", () => {
  const plot = layoutPlot([at(0, 1), at(10, 1), at(20, 1), at(50, 1)], scale);
  expect(plot?.line).toBe("M0 9.09L10 9.09L20 9.09M50 9.09h.6");
});

test("samples that are rarer than steps make one line", () => {
  const rare = [0, 30, 60, 90].map((atMs) => at(atMs, 1));
  expect(layoutPlot(rare, scale)?.line).toBe("M0 9.09L30 9.09L60 9.09L90 9.09");
});

test("points outside of the range are left out, zeros lie on the ground, and nothing has no plot", () => {
  expect(layoutPlot([at(-20, 50), at(90, 0)], scale)).toMatchObject({ top: 1, peak: 0, last: 0 });
  expect(layoutPlot([at(-20, 50)], scale)).toBeUndefined();
  expect(layoutPlot([], scale)).toBeUndefined();
});
