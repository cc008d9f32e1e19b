import { durationFromMs, timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { GetQueueStatsRequest } from "@pawl/proto/pawl/v1/queue_service_pb";
import { expect, test } from "vitest";
import { setup } from "./scripted-host.fixture.ts";

const MINUTE_MS = 60_000;
const START_MS = Date.UTC(2026, 0, 1);
const point = (minute: number, waiting: number) => ({
  time: timestampFromMs(START_MS + minute * MINUTE_MS),
  ...{ slots: 256, active: 10, available: 246, waiting, oldestMs: BigInt(waiting * 1_000) },
  ...{ medianMs: BigInt(waiting * 500), runsPending: 0, runsRunning: 7 },
});
const http = { ...point(3, 40), nodeType: "http", active: 4 };
const STATS = {
  total: { ...point(3, 40), runsPending: 2, pendingOldestMs: 90_000n, pendingMedianMs: 30_000n },
  queues: [http],
  pools: [
    {
      ...{ processId: "019a8b3e-2222-7000-8000-00000000abcd", service: "scheduler" },
      ...{ kind: "connections", pool: "reads", size: 5, inUse: 1, idle: 2 },
    },
  ],
  points: [point(0, 0), point(1, 20), point(3, 40)],
  step: durationFromMs(MINUTE_MS),
};

test("the present and the past of the queues fit into 80 columns, with a gap where no sample is (S4.34)", async () => {
  const asked: GetQueueStatsRequest[] = [];
  const queues = {
    getQueueStats(request: GetQueueStatsRequest) {
      asked.push(request);
      return STATS;
    },
  };
  const { gateway, printed, pawl } = await setup({ queues }, { columns: 80 });
  await using _ = gateway;
  expect(await pawl("queue", "stats", "--range", "6h", "--step", "1m", "--node-type", "http")).toBe(
    0,
  );
  expect(asked[0]).toMatchObject({
    ...{ nodeType: "http", range: { seconds: 21_600n }, step: { seconds: 60n } },
  });
  const lines = printed.out.split("\n");
  expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(80);
  expect(lines.slice(0, 5)).toEqual([
    "sampled         2026-01-01T00:03:00.000Z",
    "slots           10 active, 246 available, 256 max",
    "runs            2 pending (oldest 1m30s, median 30.0s), 7 running",
    "nodes           40 waiting (oldest 40.0s, median 20.0s)",
    "connections     0 in use, 0 max",
  ]);
  expect(printed.out).toMatch(/^http +40 +40\.0s +20\.0s +4 +256$/m);
  expect(printed.out).toMatch(/^scheduler 0000abcd +connections +reads +1 +2 +5$/m);
  expect(printed.out).toContain("the last 4m00s, 1m00s a point\n");
  expect(printed.out).toContain("waiting         ▁▅ █ max 40\n");
  expect(printed.out).not.toContain("runs pending ");
});

test("the history comes as rows or as JSON; a system without samples says so", async () => {
  let stats: object = STATS;
  const { gateway, printed, pawl } = await setup({ queues: { getQueueStats: () => stats } });
  await using _ = gateway;
  expect(await pawl("queue", "stats", "--history")).toBe(0);
  const rows = printed.out.trim().split("\n");
  expect(rows).toHaveLength(4);
  expect(rows[2]?.split(/ {2,}/)).toEqual([
    ...["2026-01-01T00:01:00Z", "10", "256", "20", "20.0s", "10.0s", "7", "0"],
  ]);
  printed.out = "";
  expect(await pawl("queue", "stats", "-o", "json")).toBe(0);
  expect(JSON.parse(printed.out)).toMatchObject({
    total: { waiting: 40, oldestMs: 40_000, pendingMedianMs: 30_000 },
    points: [{}, { waiting: 20 }, {}],
    step: "60s",
  });
  printed.out = "";
  stats = {};
  expect(await pawl("queue", "stats")).toBe(0);
  expect(printed.out).toBe("No scheduler has taken a sample yet.\n");
  expect(await pawl("queue", "stats", "--range", "long")).toBe(2);
});
