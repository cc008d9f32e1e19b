import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { jsonBytes } from "@pawl/client";
import { MissedPolicy, OverlapPolicy, ScheduleState } from "@pawl/proto/pawl/v1/schedule_pb";
import type {
  CreateScheduleRequest,
  PreviewScheduleRequest,
  UpdateScheduleRequest,
} from "@pawl/proto/pawl/v1/schedule_service_pb";
import { expect, test } from "vitest";
import { setup } from "./scripted-host.fixture.ts";

const RUN = "019a8b3e-1111-7000-8000-000000000001";
const at = (text: string) => timestampFromDate(new Date(text));
const SPEC = {
  workflowId: "report",
  workflowVersion: 3,
  expression: "0 3 * * *",
  timeZone: "Europe/Berlin",
  inputJson: jsonBytes({ day: "yesterday" }),
  priority: 5,
  missed: MissedPolicy.RUN_ONCE,
  overlap: OverlapPolicy.SKIP,
};
const NIGHTLY = {
  scheduleId: "nightly",
  spec: SPEC,
  state: ScheduleState.ACTIVE,
  version: 4,
  lastOccurrenceTime: at("2026-01-01T02:00:00Z"),
  lastRunId: RUN,
  startedCount: 8n,
  skippedCount: 1n,
  nextTimes: [at("2026-01-02T02:00:00Z"), at("2026-01-03T02:00:00Z")],
};
const PAUSED = {
  ...NIGHTLY,
  state: ScheduleState.PAUSED,
  pausedBy: "Ada",
  pauseReason: "month end",
  lastError: "overlap: the run of the occurrence before had not ended",
  nextTimes: [],
};

test("schedules are listed with their rule, the result of the last occurrence and the time of the next", async () => {
  const { gateway, printed, pawl } = await setup({
    schedules: {
      listSchedules: ({ workflowId }) =>
        workflowId === "none"
          ? {}
          : { schedules: [NIGHTLY, { ...PAUSED, scheduleId: "held" }], nextPageToken: "next" },
    },
  });
  await using _ = gateway;
  expect(await pawl("schedule", "list")).toBe(0);
  const lines = printed.out.split("\n").map((line) => line.trim().split(/\s{2,}/));
  expect(lines.slice(0, 3)).toEqual([
    ["SCHEDULE", "STATE", "WHEN", "ZONE", "WORKFLOW", "NEXT", "LAST"],
    [
      "nightly",
      "active",
      "0 3 * * *",
      "Europe/Berlin",
      "report",
      "2026-01-02 03:00",
      "2026-01-01 03:00",
    ],
    ["held", "paused", "0 3 * * *", "Europe/Berlin", "report", PAUSED.lastError],
  ]);
  expect(printed.out).toContain("More: pawl schedule list --page-token next");
  printed.out = "";
  expect(await pawl("schedule", "list", "-o", "json")).toBe(0);
  expect(JSON.parse(printed.out)).toMatchObject({
    schedules: [{ scheduleId: "nightly", state: "active", startedCount: 8 }, { state: "paused" }],
    nextPageToken: "next",
  });
  printed.out = "";
  expect(await pawl("schedule", "list", "--workflow", "none")).toBe(0);
  expect(printed.out).toContain("No schedules. Make one with `pawl schedule create");
});

test("one schedule is shown whole, also while it is paused, and in JSON with its input as a value", async () => {
  const { gateway, printed, pawl } = await setup({
    schedules: {
      getSchedule: () => ({ schedule: NIGHTLY }),
      pauseSchedule: () => ({ schedule: PAUSED }),
    },
  });
  await using _ = gateway;
  expect(await pawl("schedule", "get", "nightly")).toBe(0);
  expect(printed.out).toBe(
    [
      "nightly active",
      "  0 3 * * * in Europe/Berlin, runs report",
      `  last 2026-01-01 03:00 Europe/Berlin (2026-01-01T02:00:00Z), run ${RUN}`,
      "  started 8, skipped 1",
      "  next 2026-01-02 03:00 Europe/Berlin (2026-01-02T02:00:00Z)",
      "  next 2026-01-03 03:00 Europe/Berlin (2026-01-03T02:00:00Z)",
      "",
    ].join("\n"),
  );
  printed.out = "";
  expect(await pawl("schedule", "pause", "nightly", "--by", "Ada", "--reason", "month end")).toBe(
    0,
  );
  expect(printed.out).toContain("nightly paused by Ada: month end\n");
  expect(printed.out).toContain("(2026-01-01T02:00:00Z), overlap: the run of the occurrence");
  printed.out = "";
  expect(await pawl("schedule", "get", "nightly", "-o", "json")).toBe(0);
  expect(JSON.parse(printed.out)).toMatchObject({
    spec: { input: { day: "yesterday" }, missed: "run_once", overlap: "skip" },
    lastRunId: RUN,
  });
});

test("an update sends the named fields and keeps the rest, on the version it has read", async () => {
  const asked: (CreateScheduleRequest | UpdateScheduleRequest)[] = [];
  const { gateway, printed, pawl } = await setup({
    schedules: {
      getSchedule: () => ({ schedule: NIGHTLY }),
      createSchedule: (request) => (asked.push(request), { schedule: NIGHTLY }),
      updateSchedule: (request) => (asked.push(request), { schedule: NIGHTLY }),
    },
  });
  await using _ = gateway;
  expect(
    await pawl("schedule", "update", "nightly", "--cron", "0 4 * * *", "--overlap", "allow"),
  ).toBe(0);
  expect(asked[0]).toMatchObject({
    expectedVersion: 4,
    spec: { ...SPEC, expression: "0 4 * * *", overlap: OverlapPolicy.ALLOW },
  });
  expect(await pawl("schedule", "create", "weekly", "--cron", "@weekly")).toBe(2);
  expect(printed.error).toContain("--workflow ID and --cron or --rrule EXPRESSION");
  const rule = ["--rrule", "DTSTART:20260102T090000Z\\nRRULE:FREQ=DAILY", "--missed", "run_all"];
  expect(await pawl("schedule", "create", "daily", "--workflow", "report", ...rule)).toBe(0);
  expect(asked[1]).toMatchObject({
    scheduleId: "daily",
    spec: {
      expression: "DTSTART:20260102T090000Z\nRRULE:FREQ=DAILY",
      missed: MissedPolicy.RUN_ALL,
    },
  });
  expect(await pawl("schedule", "create", "x", "--overlap", "perhaps")).toBe(2);
  expect(asked).toHaveLength(2);
});

test("previews, runs by hand and deletions say what came of them in both formats", async () => {
  const asked: PreviewScheduleRequest[] = [];
  const { gateway, printed, pawl } = await setup({
    schedules: {
      previewSchedule: (request) => (asked.push(request), { times: NIGHTLY.nextTimes }),
      triggerSchedule: () => ({ run: { runId: RUN } }),
      deleteSchedule: () => ({}),
    },
  });
  await using _ = gateway;
  expect(await pawl("schedule", "preview", "--cron", "0 3 * * *", "--count", "2")).toBe(0);
  expect(printed.out).toBe("2026-01-02T02:00:00Z\n2026-01-03T02:00:00Z\n");
  expect(asked[0]).toMatchObject({ count: 2 });
  printed.out = "";
  const zoned = ["--cron", "0 3 * * *", "--time-zone", "America/New_York"];
  expect(await pawl("schedule", "preview", ...zoned)).toBe(0);
  expect(printed.out).toContain("2026-01-01 21:00 America/New_York (2026-01-02T02:00:00Z)\n");
  expect(await pawl("schedule", "preview")).toBe(2);
  printed.out = "";
  expect(await pawl("schedule", "trigger", "nightly")).toBe(0);
  expect(printed.out).toContain(`${RUN}\n`);
  printed.out = "";
  expect(await pawl("schedule", "trigger", "nightly", "-o", "json")).toBe(0);
  expect(JSON.parse(printed.out)).toMatchObject({ runId: RUN, scheduleId: "nightly" });
  printed.out = "";
  expect(await pawl("schedule", "delete", "nightly")).toBe(0);
  expect(await pawl("schedule", "delete", "nightly", "-o", "json")).toBe(0);
  expect(printed.out).toBe(
    'nightly deleted; runs that it started continue\n{"scheduleId":"nightly","deleted":true}\n',
  );
});
