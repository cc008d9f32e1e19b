import { EngineError } from "@pawl/core/fault/engine-error";
import { runId } from "@pawl/core/name/ids";
import { occurrencesAfter } from "@pawl/platform/queue/boss-occurrences";
import { inPlace } from "@pawl/platform/queue/occurrences.fixture";
import { createMemoryStore } from "@pawl/platform/store/memory/store";
import type { ScheduleRecord, ScheduleSpec } from "@pawl/platform/store/schedules/schedules";
import { createLogger } from "@pawl/platform/telemetry/log";
import { expect, test } from "vitest";
import { type FireParts, fireSchedules } from "./fire.ts";

const KEY = { tenantId: "acme", scheduleId: "nightly" };
const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const iso = (at: number): string => new Date(at).toISOString().replace(".000Z", "Z");

/** A clock driven by hand, a store on it, and a start that knows its repeats, as the unique index does. */
async function setup(over: Partial<ScheduleSpec>, start = "2026-01-01T00:00:00Z") {
  let now = Date.parse(start);
  const { schedules } = createMemoryStore({ now: () => now });
  const spec: ScheduleSpec = {
    workflowId: "orders",
    workflowVersion: 0,
    expression: "0 * * * *",
    timeZone: "UTC",
    input: "null",
    priority: 0,
    missed: "skip",
    overlap: "allow",
    ...over,
  };
  const nextOf = (each: ScheduleSpec): Promise<number | null> => inPlace.next(each, now);
  await schedules.create({ ...KEY, spec, requestId: null, requestHash: null }, nextOf);
  const runs = new Map<string, { readonly at: number; readonly startedAt: number }>();
  const started: FireParts["startRun"] = async (_tenant, { requestId }, schedule) => {
    if (requestId === null) throw new Error("an occurrence has a request id");
    const duplicate = runs.has(requestId);
    if (!duplicate) runs.set(requestId, { at: schedule.at, startedAt: now });
    return { runId: runId(requestId), duplicate };
  };
  /** Whether the run that was started last still lives. */
  const last = { isLive: false };
  const parts = (startRun = started): FireParts => ({
    schedules: {
      ...schedules,
      fire: (limit, judge) =>
        schedules.fire(limit, (due, at) => judge({ ...due, isLastRunLive: last.isLive }, at)),
    },
    occurrences: inPlace,
    startRun,
    log: createLogger({ service: "scheduler", level: "silent" }),
  });
  return {
    schedules,
    spec,
    started,
    last,
    /** When the runs' occurrences were, in the order they started. */
    times: () => [...runs.values()].map(({ at }) => iso(at)),
    runs: () => [...runs.values()],
    fire: (startRun?: FireParts["startRun"]) => fireSchedules(parts(startRun)),
    find: async (): Promise<ScheduleRecord> => {
      const found = await schedules.find(KEY);
      if (found === undefined) throw new Error("the schedule is gone");
      return found;
    },
    goTo: (time: number): void => void (now = time),
    now: () => now,
    resume: () => schedules.resume(KEY, nextOf),
    update: (edited: ScheduleSpec) =>
      schedules.update({ ...KEY, spec: edited, requestId: null, requestHash: null }, nextOf, 0),
  };
}

type Stage = Awaited<ReturnType<typeof setup>>;

/** Lets time pass as a scheduler that never sleeps sees it: from alarm to alarm. */
async function live(stage: Stage, until: number): Promise<void> {
  for (let turn = 0; turn < 20_000; turn += 1) {
    const { nextAt } = await stage.find();
    if (nextAt === null || nextAt > until) break;
    stage.goTo(Math.max(stage.now(), nextAt));
    await stage.fire();
  }
  stage.goTo(until);
}

test("a year of occurrences starts one run each, at its time, as in the preview, through both changes of the clocks", async () => {
  for (const [expression, count] of [
    ["30 2 * * *", 365],
    ["FREQ=DAILY;BYHOUR=2;BYMINUTE=30;BYSECOND=0", 364],
    ["0 0 L * *", 12],
  ] as const) {
    const timeZone = "Europe/Berlin";
    const stage = await setup({ expression, timeZone });
    const end = Date.parse("2027-01-01T00:00:00Z");
    const said = [...previewed(stage.spec, stage.now(), end)];
    await live(stage, end);
    expect(stage.runs().map(({ at }) => at)).toEqual(said);
    expect(stage.runs().every(({ at, startedAt }) => at === startedAt)).toBe(true);
    expect([expression, stage.runs().length]).toEqual([expression, count]);
  }
});

function* previewed(spec: ScheduleSpec, from: number, end: number): Generator<number> {
  for (let after = from; ;) {
    const page = occurrencesAfter(spec, after, 500).filter((at) => at <= end);
    yield* page;
    const last = page.at(-1);
    if (page.length < 500 || last === undefined) return;
    after = last;
  }
}

test("a rule with a COUNT fires so often and is then over", async () => {
  const stage = await setup({ expression: "DTSTART:20260102T090000Z\nRRULE:FREQ=DAILY;COUNT=3" });
  await live(stage, Date.parse("2026-02-01T00:00:00Z"));
  expect(stage.times()).toEqual([
    "2026-01-02T09:00:00Z",
    "2026-01-03T09:00:00Z",
    "2026-01-04T09:00:00Z",
  ]);
  expect(await stage.find()).toMatchObject({ nextAt: null, startedCount: 3, lastError: "" });
});

test("after hours without a scheduler the policy decides about missed occurrences", async () => {
  for (const [missed, times] of [
    ["skip", []],
    ["run_once", ["2026-01-01T05:00:00Z"]],
    ["run_all", [1, 2, 3, 4, 5].map((hour) => `2026-01-01T0${hour}:00:00Z`)],
  ] as const) {
    const stage = await setup({ missed });
    stage.goTo(Date.parse("2026-01-01T05:30:00Z"));
    await stage.fire();
    expect(stage.times()).toEqual(times);
    expect(await stage.find()).toMatchObject({
      nextAt: Date.parse("2026-01-01T06:00:00Z"),
      lastAt: Date.parse("2026-01-01T05:00:00Z"),
      startedCount: times.length,
      skippedCount: 5 - times.length,
      lastError: times.length === 0 ? "missed: no scheduler ran in time to start it" : "",
    });
    await live(stage, Date.parse("2026-01-01T07:10:00Z"));
    expect(stage.times().slice(times.length)).toEqual([
      "2026-01-01T06:00:00Z",
      "2026-01-01T07:00:00Z",
    ]);
  }
});

test("the number of missed occurrences that start is bounded, and every occurrence is its own run", async () => {
  const stage = await setup({ expression: "* * * * *", missed: "run_all" });
  stage.goTo(Date.parse("2026-01-03T00:00:30Z"));
  await stage.fire();
  const times = stage.runs().map(({ at }) => at);
  expect(times).toHaveLength(101);
  expect(times).toEqual(times.toSorted((a, b) => a - b));
  expect(new Set(times).size).toBe(101);
  expect(times.at(-1)).toBe(Date.parse("2026-01-03T00:00:00Z"));
});

test("a scheduler that dies between the start and the move leaves one run when the next one fires", async () => {
  const stage = await setup({});
  stage.goTo(Date.parse("2026-01-01T01:00:00Z"));
  const dying: FireParts["startRun"] = async (...call) => {
    await stage.started(...call);
    throw new EngineError("STORE_UNAVAILABLE", "the answer was lost");
  };
  await expect(stage.fire(dying)).rejects.toThrow("the answer was lost");
  expect(await stage.find()).toMatchObject({ startedCount: 0 });
  await stage.fire();
  await stage.fire();
  expect(stage.times()).toEqual(["2026-01-01T01:00:00Z"]);
  expect(await stage.find()).toMatchObject({
    startedCount: 1,
    nextAt: Date.parse("2026-01-01T02:00:00Z"),
  });
});

test("a schedule whose workflow is gone shows the error, and tries again at its next occurrence only", async () => {
  const stage = await setup({});
  const refuse: FireParts["startRun"] = async () => {
    throw new EngineError("WORKFLOW_NOT_FOUND", "There is no workflow orders.");
  };
  stage.goTo(Date.parse("2026-01-01T01:00:00Z"));
  expect(await stage.fire(refuse)).toMatchObject({ takenCount: 1 });
  expect(await stage.fire(refuse)).toMatchObject({ takenCount: 0 });
  expect(await stage.find()).toMatchObject({
    lastError: "WORKFLOW_NOT_FOUND: There is no workflow orders.",
    skippedCount: 1,
    nextAt: Date.parse("2026-01-01T02:00:00Z"),
  });
  await live(stage, Date.parse("2026-01-01T02:00:00Z"));
  expect(await stage.find()).toMatchObject({ lastError: "", startedCount: 1 });
});

test("a fault of ours in one schedule does not hold up the others", async () => {
  const stage = await setup({});
  const other = { ...KEY, scheduleId: "other", spec: stage.spec };
  const request = { requestId: null, requestHash: null };
  await stage.schedules.create({ ...other, ...request }, (spec) => inPlace.next(spec, stage.now()));
  stage.goTo(Date.parse("2026-01-01T01:00:00Z"));
  await stage.fire((...call) =>
    call[2].scheduleId === "other"
      ? Promise.reject(new TypeError("a bug"))
      : stage.started(...call),
  );
  expect(await stage.find()).toMatchObject({ startedCount: 1 });
  expect(await stage.schedules.find(other)).toMatchObject({ lastError: "INTERNAL" });
});

test("occurrences that came due during a pause do not start later, whatever the policy", async () => {
  const stage = await setup({ missed: "run_all" });
  await stage.schedules.pause(KEY, { by: "Ada", reason: "freeze" });
  stage.goTo(Date.parse("2026-01-01T05:30:00Z"));
  await stage.fire();
  await stage.resume();
  await live(stage, Date.parse("2026-01-01T06:30:00Z"));
  expect(stage.times()).toEqual(["2026-01-01T06:00:00Z"]);
});

test("an edit changes the future only", async () => {
  const stage = await setup({ expression: "0 12 * * *" });
  await live(stage, stage.now() + 2 * DAY);
  await stage.update({ ...stage.spec, expression: "0 6 * * *", input: "2" });
  await live(stage, stage.now() + 2 * DAY);
  expect(stage.times()).toEqual([
    "2026-01-01T12:00:00Z",
    "2026-01-02T12:00:00Z",
    "2026-01-03T06:00:00Z",
    "2026-01-04T06:00:00Z",
  ]);
});

test("an occurrence that comes due while the run before lives starts beside it, or nothing, as the policy says", async () => {
  for (const [overlap, times, skippedCount, lastError] of [
    ["allow", ["2026-01-01T01:00:00Z", "2026-01-01T02:00:00Z"], 0, ""],
    [
      "skip",
      ["2026-01-01T01:00:00Z"],
      1,
      "overlap: the run of the occurrence before had not ended",
    ],
  ] as const) {
    const stage = await setup({ overlap });
    await live(stage, Date.parse("2026-01-01T01:30:00Z"));
    stage.last.isLive = true;
    await live(stage, Date.parse("2026-01-01T02:30:00Z"));
    expect(stage.times()).toEqual(times);
    expect(await stage.find()).toMatchObject({ skippedCount, lastError });
    // Once it has ended, the next one starts, and what was skipped is not made up for.
    stage.last.isLive = false;
    await live(stage, Date.parse("2026-01-01T03:30:00Z"));
    expect(stage.times()).toEqual([...times, "2026-01-01T03:00:00Z"]);
    expect(await stage.find()).toMatchObject({ skippedCount, lastError: "" });
  }
});

test("of missed occurrences that start at once, a schedule without overlap starts the first only", async () => {
  const stage = await setup({ missed: "run_all", overlap: "skip" });
  stage.goTo(Date.parse("2026-01-01T05:30:00Z"));
  await stage.fire();
  expect(stage.times()).toEqual(["2026-01-01T01:00:00Z"]);
  expect(await stage.find()).toMatchObject({
    startedCount: 1,
    skippedCount: 4,
    lastError: "overlap: the run of the occurrence before had not ended",
  });
});
