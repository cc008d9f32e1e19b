// A short form of `npm run stress`: every shape, few runs of each.
import { afterAll, beforeAll, expect, test } from "vitest";
import { expectationOf } from "./expectation.ts";
import { SHAPES } from "./shapes.ts";
import { stress } from "./stress.ts";
import { startStressCluster, type StressCluster } from "./stress-cluster.ts";

const RUNS = 4;

let cluster: StressCluster;

beforeAll(async () => {
  cluster = await startStressCluster(1);
});
afterAll(() => cluster.stop());

test("every shape ends as its definition says, whatever is repeated or reordered (S2.10, S2.16, S2.21, S2.26, S3.4, S3.17, S3.48, S3.49, S3.52, S3.53)", async ({
  onTestFailed,
}) => {
  onTestFailed(() => console.error(cluster.logs()));
  const { rows, faults } = await stress(cluster, {
    shapes: SHAPES,
    runs: RUNS,
    seed: 1,
    isShort: true,
  });
  expect(faults).toEqual([]);
  expect(rows.map(({ name }) => name)).toEqual([...SHAPES.map(({ name }) => name), "all at once"]);
  for (const { name, expected, got, refused } of rows) {
    expect(got, name).toBe(expected);
    // Void unless there was something to refuse.
    expect(refused, name).toBeGreaterThan(0);
  }
});

test("the expectation of a run follows from its definition alone (S1.22, S3.20, S3.21)", () => {
  const statusOf = (name: string, run: number): string => {
    const shape = SHAPES.find((each) => each.name === name);
    return shape === undefined ? "" : expectationOf(shape.definition, shape.acts(run)).status;
  };
  expect(statusOf("linear", 0)).toBe("completed");
  expect(statusOf("error in parallel", 0)).toBe("failed");
  expect([0, 1].map((run) => statusOf("moderation hold", run))).toEqual(["completed", "failed"]);
});
