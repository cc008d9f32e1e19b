// The promises of every store about schedules and their alarms.

import { randomUUID } from "node:crypto";
import { runId } from "@pawl/core/name/ids";
import type {
  SaveScheduleResult,
  ScheduleEdit,
  ScheduleMove,
  ScheduleSpec,
  Schedules,
} from "@pawl/platform/store/schedules/schedules";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { OpenStore, StoreUnderTest } from "./store.ts";

const SPEC: ScheduleSpec = {
  workflowId: "orders",
  workflowVersion: 0,
  expression: "0 3 * * *",
  timeZone: "Europe/Berlin",
  input: '{"a": 1.0}',
  priority: 7,
  missed: "run_once",
  overlap: "skip",
};
const PAST = Date.parse("2026-01-01T00:00:00Z");
const FUTURE = Date.parse("2096-01-01T00:00:00Z");

/** A tenant of its own for one test, on the store that all tests of a suite share. */
function newKey() {
  const key = { tenantId: randomUUID(), scheduleId: "nightly" };
  const edit = (over: Partial<ScheduleEdit> = {}): ScheduleEdit => ({
    ...key,
    spec: SPEC,
    requestId: null,
    requestHash: null,
    ...over,
  });
  return { key, edit };
}

const at = (time: number | null) => () => time;
const kindOf = (result: SaveScheduleResult): string =>
  result.kind === "saved" ? `version ${result.schedule.version}` : result.kind;

const moveTo = (nextAt: number | null, over: Partial<ScheduleMove> = {}): ScheduleMove => ({
  nextAt,
  lastAt: PAST,
  runId: null,
  lastError: "",
  startedCount: 1,
  skippedCount: 0,
  ...over,
});

/** Which schedules a firing was asked about; each comes due next in the future. */
async function fired(schedules: Schedules, limit = 10): Promise<string[]> {
  const seen: string[] = [];
  await schedules.fire(limit, async ({ scheduleId }) => {
    seen.push(scheduleId);
    return moveTo(FUTURE);
  });
  return seen.toSorted();
}

type Stage = () => { readonly schedules: Schedules } & ReturnType<typeof newKey>;

/** All promises about schedules on one kind of store. Every test leaves nothing due behind. */
export function schedulesSuite(name: string, open: OpenStore): void {
  describe(`schedules on ${name}`, () => {
    let store: StoreUnderTest | undefined;
    beforeAll(async () => {
      store = await open();
    });
    afterAll(() => store?.close());
    const setup: Stage = () => {
      if (store === undefined) throw new Error("the store is not open");
      return { schedules: store.schedules, ...newKey() };
    };
    edits(setup);
    holds(setup);
    firing(setup);
    races(setup);
  });
}

function edits(setup: Stage): void {
  test("a new schedule is version 1 and reads back as it was written", async () => {
    const { schedules, key, edit } = setup();
    const expected = {
      ...key,
      spec: SPEC,
      version: 1,
      nextAt: FUTURE,
      pause: null,
      lastAt: null,
      lastRunId: null,
      lastError: "",
      startedCount: 0,
      skippedCount: 0,
    };
    const result = await schedules.create(edit(), at(FUTURE));
    expect(result).toMatchObject({ kind: "saved", schedule: expected });
    expect(await schedules.find(key)).toMatchObject(expected);
    expect(await schedules.find({ ...key, tenantId: "other" })).toBeUndefined();
  });

  test("a schedule's id is taken once in its tenant, however many ask at once", async () => {
    const { schedules, edit } = setup();
    const results = await Promise.all([1, 2, 3, 4].map(() => schedules.create(edit(), at(FUTURE))));
    expect(results.map(kindOf).toSorted()).toEqual(["exists", "exists", "exists", "version 1"]);
  });

  test("an edit replaces the spec; the next occurrence moves only with the recurrence", async () => {
    const { schedules, edit } = setup();
    await schedules.create(edit(), at(FUTURE));
    const other = { ...SPEC, input: "2" };
    expect(await schedules.update(edit({ spec: other }), at(FUTURE + 5_000), 1)).toMatchObject({
      schedule: { version: 2, nextAt: FUTURE, spec: other },
    });
    const moved = { ...other, expression: "0 4 * * *" };
    expect(await schedules.update(edit({ spec: moved }), at(FUTURE + 5_000), 0)).toMatchObject({
      schedule: { version: 3, nextAt: FUTURE + 5_000, spec: moved },
    });
    expect(await schedules.update(edit(), at(FUTURE), 1)).toEqual({
      kind: "version_mismatch",
      currentVersion: 3,
    });
    const missing = edit({ scheduleId: "other" });
    expect(await schedules.update(missing, at(FUTURE), 0)).toEqual({ kind: "missing" });
  });

  test("a repeated request gives its answer again, and another body under its id is refused", async () => {
    const { schedules, edit } = setup();
    const asked = edit({ requestId: "r1", requestHash: "h1" });
    await schedules.create(asked, at(FUTURE));
    expect(kindOf(await schedules.create(asked, at(FUTURE)))).toBe("version 1");
    const misused = edit({ requestId: "r1", requestHash: "h2" });
    expect(kindOf(await schedules.create(misused, at(FUTURE)))).toBe("request_reused");
    const edited = edit({ requestId: "r2", requestHash: "h3" });
    expect(kindOf(await schedules.update(edited, at(FUTURE), 1))).toBe("version 2");
    expect(kindOf(await schedules.update(edited, at(FUTURE), 1))).toBe("version 2");
  });
}

function holds(setup: Stage): void {
  test("a paused schedule has no next occurrence and does not fire; pausing twice keeps the first pause", async () => {
    const { schedules, key, edit } = setup();
    await schedules.create(edit(), at(PAST));
    const paused = await schedules.pause(key, { by: "Ada", reason: "freeze" });
    expect(paused).toMatchObject({ nextAt: null, pause: { by: "Ada", reason: "freeze" } });
    expect(await schedules.pause(key, { by: "Bob", reason: "too" })).toEqual(paused);
    expect(await fired(schedules)).toEqual([]);
    const moved = edit({ spec: { ...SPEC, expression: "0 4 * * *" } });
    expect(await schedules.update(moved, at(PAST), 0)).toMatchObject({
      schedule: { nextAt: null, pause: { by: "Ada" } },
    });
  });

  test("a resumed schedule continues with its next occurrence; resuming twice changes nothing", async () => {
    const { schedules, key, edit } = setup();
    await schedules.create(edit(), at(PAST));
    await schedules.pause(key, { by: "", reason: "" });
    expect(await schedules.resume(key, at(FUTURE))).toMatchObject({ nextAt: FUTURE, pause: null });
    expect(await schedules.resume(key, at(PAST))).toMatchObject({ nextAt: FUTURE });
    expect(await fired(schedules)).toEqual([]);
    expect(await schedules.resume({ ...key, scheduleId: "other" }, at(PAST))).toBeUndefined();
    expect(await schedules.pause({ ...key, scheduleId: "x" }, { by: "", reason: "" })).toBe(
      undefined,
    );
  });

  test("a removed schedule is gone with its alarm", async () => {
    const { schedules, key, edit } = setup();
    await schedules.create(edit(), at(PAST));
    expect([await schedules.remove(key), await schedules.remove(key)]).toEqual([true, false]);
    expect(await fired(schedules)).toEqual([]);
    expect(await schedules.find(key)).toBeUndefined();
  });
}

function firing(setup: Stage): void {
  test("a due schedule fires once and moves to its next occurrence; other schedules stay", async () => {
    const { schedules, key, edit } = setup();
    await schedules.create(edit({ scheduleId: "due" }), at(PAST));
    await schedules.create(edit({ scheduleId: "later" }), at(FUTURE));
    await schedules.create(edit({ scheduleId: "ended" }), at(null));
    expect(await fired(schedules)).toEqual(["due"]);
    expect(await fired(schedules)).toEqual([]);
    expect(await schedules.find({ ...key, scheduleId: "due" })).toMatchObject({
      nextAt: FUTURE,
      lastAt: PAST,
      startedCount: 1,
    });
  });

  test("a move says what became of the occurrence, and one without a run keeps the run before", async () => {
    const { schedules, key, edit } = setup();
    await schedules.create(edit(), at(PAST));
    const run = runId(randomUUID());
    const first = await schedules.fire(1, async (due, now) => {
      expect(due).toMatchObject({ ...key, nextAt: PAST, isLastRunLive: false });
      expect(Math.abs(now - Date.now())).toBeLessThan(60_000);
      return moveTo(PAST + 1_000, { runId: run });
    });
    expect(first).toEqual({ takenCount: 1, nextAt: PAST + 1_000 });
    const skipped = { lastError: "missed", startedCount: 0, skippedCount: 2, lastAt: PAST + 1_000 };
    await schedules.fire(1, async () => moveTo(null, skipped));
    expect(await schedules.find(key)).toMatchObject({
      nextAt: null,
      lastAt: PAST + 1_000,
      lastRunId: run,
      lastError: "missed",
      startedCount: 1,
      skippedCount: 2,
    });
    expect(await fired(schedules)).toEqual([]);
  });

  test("a firing that fails leaves everything as it was", async () => {
    const { schedules, key, edit } = setup();
    await schedules.create(edit(), at(PAST));
    const failing = schedules.fire(1, () => Promise.reject(new Error("the store is away")));
    await expect(failing).rejects.toThrow("the store is away");
    expect(await schedules.find(key)).toMatchObject({ nextAt: PAST, startedCount: 0 });
    expect(await fired(schedules)).toEqual(["nightly"]);
  });
}

function races(setup: Stage): void {
  test("of two that fire at once, each schedule is fired by one", async () => {
    const { schedules, edit } = setup();
    const ids = Array.from({ length: 12 }, (_, n) => `s${String(n).padStart(2, "0")}`);
    for (const scheduleId of ids) await schedules.create(edit({ scheduleId }), at(PAST));
    const both = await Promise.all([fired(schedules, 7), fired(schedules, 7)]);
    const rest = await fired(schedules, 20);
    expect([...both.flat(), ...rest].toSorted()).toEqual(ids);
  });

  test("edits beside a firing neither lose nor double it", async () => {
    const { schedules, key, edit } = setup();
    await schedules.create(edit(), at(PAST));
    const started = Promise.withResolvers<void>();
    const goOn = Promise.withResolvers<void>();
    const firingOne = schedules.fire(1, async () => {
      started.resolve();
      await goOn.promise;
      return moveTo(FUTURE);
    });
    await started.promise;
    const pausing = schedules.pause(key, { by: "Ada", reason: "" });
    goOn.resolve();
    await Promise.all([firingOne, pausing]);
    expect(await schedules.find(key)).toMatchObject({ nextAt: null, pause: { by: "Ada" } });
    expect(await fired(schedules)).toEqual([]);
    await schedules.resume(key, at(PAST));
    expect(await fired(schedules)).toEqual(["nightly"]);
    expect(await fired(schedules)).toEqual([]);
  });
}
