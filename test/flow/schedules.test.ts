// Schedules through the public API, on two schedulers that share a database: every occurrence starts one run, whichever process dies.
import { createPawlClient, PawlError, type PawlClient, type ScheduleInput } from "@pawl/client";
import { ScheduleState } from "@pawl/proto/pawl/v1/schedule_pb";
import { timestampDate, timestampMs } from "@bufbuild/protobuf/wkt";
import { Client } from "pg";
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from "vitest";
import { failpoints, replaceScheduler } from "../crash/processes.ts";
import { type Cluster, startCluster } from "../support/cluster.ts";
import { checkInvariants } from "../support/invariants.ts";
import { until } from "../support/until.ts";
import { graph, names } from "./graph.ts";

let cluster: Cluster;
let pawl: PawlClient;

beforeAll(async () => {
  cluster = await startCluster({ schedulers: 2, envOf: { scheduler: { PAWL_POLL_MS: "50" } } });
  pawl = createPawlClient({ baseUrl: cluster.url });
  await pawl.workflows.create(graph(["start > end"]), { workflowId: "tick" });
});
beforeEach(({ onTestFailed }) => onTestFailed(() => console.error(cluster.logs())));
afterAll(() => cluster.stop());

const DAILY: ScheduleInput = { workflowId: "tick", expression: "0 3 * * *" };
const EACH_SECOND: ScheduleInput = { workflowId: "tick", expression: "* * * * * *" };

async function openDatabase(): Promise<Client> {
  const db = new Client({ connectionString: cluster.databaseUrl });
  // Ends with its server in some tests; the query in flight tells.
  db.on("error", () => {});
  await db.connect();
  await db.query("set search_path = pawl");
  onTestFinished(() => db.end());
  return db;
}

/** The occurrences that started runs, by schedule, in order of time. */
async function occurrences(db: Client): Promise<Map<string, number[]>> {
  const { rows } = await db.query<{ schedule_id: string; at: string }>(
    `select schedule_id, extract(epoch from schedule_at)::bigint as at
     from runs where schedule_id like 'each%' order by schedule_id, schedule_at, run_id`,
  );
  const grouped = Map.groupBy(rows, (row) => row.schedule_id);
  return new Map([...grouped].map(([id, all]) => [id, all.map(({ at }) => Number(at))]));
}

/** What a call was refused for: its reason, and the fields at fault. */
async function refusal(call: Promise<unknown>): Promise<string> {
  try {
    await call;
    return "taken";
  } catch (error) {
    if (!(error instanceof PawlError)) throw error;
    return [error.reason, ...error.violations.map(({ path }) => path)].join(" ");
  }
}

test("a schedule is created, read, listed, edited and removed, and its next times are those of its preview", async () => {
  const berlin = {
    ...DAILY,
    timeZone: "Europe/Berlin",
    missed: "run_once",
    overlap: "skip",
  } as const;
  const made = await pawl.schedules.create("nightly", { ...berlin, input: { n: 1 }, priority: 5 });
  expect(made).toMatchObject({
    scheduleId: "nightly",
    state: ScheduleState.ACTIVE,
    version: 1,
    spec: { workflowId: "tick", expression: "0 3 * * *", timeZone: "Europe/Berlin", priority: 5 },
  });
  const read = await pawl.schedules.get("nightly");
  expect(read.nextTimes).toHaveLength(5);
  const told = read.nextTimes.map(timestampDate);
  expect(await pawl.schedules.preview({ scheduleId: "nightly" })).toEqual(told);
  const { timeZone } = berlin;
  expect(await pawl.schedules.preview({ expression: "0 3 * * *" }, { timeZone })).toEqual(told);
  await pawl.schedules.create("other", { ...DAILY, input: { n: 2 } });
  const first = await pawl.schedules.list({ pageSize: 1 });
  const second = await pawl.schedules.list({ pageSize: 1, pageToken: first.nextPageToken });
  const pages = [...first.schedules, ...second.schedules];
  expect(pages.map(({ scheduleId }) => scheduleId)).toEqual(["nightly", "other"]);
  expect(second.nextPageToken).toBe("");
  expect((await pawl.schedules.list({ workflowId: "nobody" })).schedules).toEqual([]);
  const edited = await pawl.schedules.update("nightly", { ...DAILY, expression: "0 4 * * *" });
  expect(edited.nextTimes[0] && timestampDate(edited.nextTimes[0]).getUTCHours()).toBe(4);
  expect(await refusal(pawl.schedules.update("nightly", DAILY, { expectedVersion: 1 }))).toBe(
    "VERSION_MISMATCH",
  );
  for (const id of ["nightly", "other"]) await pawl.schedules.delete(id);
  expect(await refusal(pawl.schedules.get("nightly"))).toBe("SCHEDULE_NOT_FOUND");
});

/** A rule of every second of a year by numbers: computing its first occurrence takes tens of seconds. */
const seconds = Array.from({ length: 60 }, (_, n) => n).join(",");
const days = Array.from({ length: 31 }, (_, n) => n + 1).join(",");
const hours = Array.from({ length: 24 }, (_, n) => n).join(",");
const COSTLY = `FREQ=YEARLY;BYMONTHDAY=${days};BYMONTH=1,2,3,4,5,6,7,8,9,10,11,12;BYHOUR=${hours};BYMINUTE=${seconds};BYSECOND=${seconds}`;

test("absurd rules are refused by their field, save nothing and delay no other call", async () => {
  for (const expression of [
    "FREQ=SECONDLY;INTERVAL=999999999999",
    "FREQ=DAILY;INTERVAL=999999999999",
    "DTSTART:99980101T000000Z\nRRULE:FREQ=DAILY",
    "FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30",
    "0 0 31 2,4,6,9,11 *",
    COSTLY,
  ]) {
    const refused = refusal(pawl.schedules.create("absurd", { ...DAILY, expression }));
    expect([expression, await refused]).toEqual([expression, "INPUT_INVALID spec.expression"]);
  }
  expect(await pawl.schedules.preview({ expression: "0 0 31 2,4,6,9,11 *" })).toEqual([]);
  expect((await pawl.schedules.list()).schedules).toEqual([]);
  // While the gateway computes a costly preview, it answers others.
  const tookMs: number[] = [];
  const preview = refusal(pawl.schedules.preview({ expression: `${COSTLY};WKST=SU` }));
  const over = preview.then(() => true);
  const askOther = async (): Promise<false> => {
    const at = performance.now();
    await (await fetch(`${cluster.url}/healthz`)).text();
    tookMs.push(performance.now() - at);
    return false;
  };
  while (!(await Promise.race([over, askOther()])));
  expect(await preview).toBe("INPUT_INVALID expression");
  expect(tookMs.length).toBeGreaterThanOrEqual(10);
  expect(Math.max(...tookMs)).toBeLessThan(3_000);
});

test("a schedule that cannot be kept is refused by its field and changes nothing", async () => {
  const create = (over: Partial<ScheduleInput>, id = "bad") =>
    refusal(pawl.schedules.create(id, { ...DAILY, ...over }));
  expect(await create({ expression: "every day" })).toBe("INPUT_INVALID spec.expression");
  expect(await create({ expression: "" })).toBe("INPUT_INVALID spec.expression");
  expect(await create({ expression: "x".repeat(5_000) })).toBe("INPUT_INVALID spec.expression");
  expect(await create({ expression: "FREQ=DAILY;UNTIL=20200101T000000Z" })).toBe(
    "INPUT_INVALID spec.expression",
  );
  expect(await create({ timeZone: "Mars/Olympus" })).toBe("INPUT_INVALID spec.time_zone");
  expect(await create({ workflowId: "nobody" })).toBe("WORKFLOW_NOT_FOUND spec.workflow_id");
  expect(await create({ workflowVersion: 9 })).toBe("WORKFLOW_NOT_FOUND spec.workflow_version");
  expect(await create({ priority: 5_000 })).toBe("INPUT_INVALID spec.priority");
  expect(await create({ inputJson: "{" })).toBe("INPUT_INVALID input_json");
  expect(await create({ input: "x".repeat(300_000) })).toBe("LIMIT_EXCEEDED");
  expect(await create({}, "a/b")).toBe("INPUT_INVALID schedule_id");
  for (const call of [
    () => pawl.schedules.get("nobody"),
    () => pawl.schedules.update("nobody", DAILY),
    () => pawl.schedules.pause("nobody"),
    () => pawl.schedules.resume("nobody"),
    () => pawl.schedules.delete("nobody"),
    () => pawl.schedules.trigger("nobody"),
    () => pawl.schedules.preview({ scheduleId: "nobody" }),
  ])
    expect(await refusal(call())).toBe("SCHEDULE_NOT_FOUND");
  expect(await refusal(pawl.schedules.preview({ expression: "nope" }))).toBe(
    "INPUT_INVALID expression",
  );
  const many = pawl.schedules.preview({ expression: "@daily" }, { count: 51 });
  expect(await refusal(many)).toBe("INPUT_INVALID count");
  expect((await pawl.schedules.list()).schedules).toEqual([]);
});

test("the same request again gives the same schedule, and a taken id is refused", async () => {
  const made = await pawl.schedules.create("again", DAILY, { requestId: "c1" });
  expect(await pawl.schedules.create("again", DAILY, { requestId: "c1" })).toEqual(made);
  expect(await refusal(pawl.schedules.create("again", DAILY))).toBe("SCHEDULE_EXISTS");
  const misuse = pawl.schedules.create("again", EACH_SECOND, { requestId: "c1" });
  expect(await refusal(misuse)).toBe("REQUEST_ID_REUSED");
  await pawl.schedules.delete("again");
});

test("a triggered run names its schedule, once however often it is asked for, paused or not", async () => {
  await pawl.schedules.create("by-hand", { ...DAILY, input: { n: 7 } });
  const paused = await pawl.schedules.pause("by-hand", { by: "Ada", reason: "freeze" });
  expect(paused).toMatchObject({
    state: ScheduleState.PAUSED,
    pausedBy: "Ada",
    pauseReason: "freeze",
    nextTimes: [],
  });
  const { run } = await pawl.schedules.trigger("by-hand", { requestId: "t1" });
  const again = await pawl.schedules.trigger("by-hand", { requestId: "t1" });
  expect([again.run.runId, again.isDuplicate]).toEqual([run.runId, true]);
  const ended = await pawl.runs.wait(run.runId);
  expect([ended.scheduleId, ended.workflowId]).toEqual(["by-hand", "tick"]);
  const { runs } = await pawl.runs.list({ scheduleId: "by-hand" });
  expect(runs.map(({ runId }) => runId)).toEqual([run.runId]);
  expect((await pawl.schedules.resume("by-hand")).state).toBe(ScheduleState.ACTIVE);
  await pawl.schedules.delete("by-hand");
});

test("a schedule of a deleted workflow says so and does not spin", async () => {
  await pawl.workflows.create(graph(["start > end"]), { workflowId: "short-lived" });
  await pawl.schedules.create("orphan", { ...EACH_SECOND, workflowId: "short-lived" });
  await pawl.workflows.delete("short-lived", { force: true });
  const told = await until(
    async () => {
      const schedule = await pawl.schedules.get("orphan");
      return schedule.lastError === "" ? undefined : schedule;
    },
    { what: "the schedule to report its workflow" },
  );
  expect(told.lastError).toMatch(/^WORKFLOW_NOT_FOUND/);
  // One for each second since it was made, not one for each look at it.
  const sinceMs = Date.now() - (told.createTime ? timestampMs(told.createTime) : 0);
  expect(Number(told.skippedCount + told.startedCount)).toBeLessThanOrEqual(sinceMs / 1_000 + 2);
  await pawl.schedules.delete("orphan");
});

test("every occurrence starts exactly one run while schedulers are killed, also between the start and the move", async () => {
  const db = await openDatabase();
  const ids = names("each", 8);
  const total = async (): Promise<number> => [...(await occurrences(db)).values()].flat().length;
  const more = async (count: number, what: string): Promise<void> => {
    const before = await total();
    await until(async () => (await total()) >= before + count, { what });
  };
  for (const id of ids) await pawl.schedules.create(id, EACH_SECOND);
  await more(16, "two seconds of runs");
  const [first, second] = cluster.schedulers;
  if (first === undefined || second === undefined) throw new Error("no schedulers");
  await first.kill("SIGKILL");
  await more(8, "runs of the one that is left");
  const doomed = await replaceScheduler(cluster, failpoints("schedule.after-start@5=kill"));
  await second.kill("SIGKILL");
  await doomed.exited();
  await second.restart();
  await more(16, "runs after both were killed");
  for (const id of ids) await pawl.schedules.delete(id);
  const after = await total();
  const started = await occurrences(db);
  expect([...started.keys()]).toEqual(ids);
  for (const [id, times] of started) {
    const from = times[0] ?? 0;
    // One for each second from the first to the last, and none twice.
    expect([id, times]).toEqual([id, times.map((_, n) => from + n)]);
  }
  const { rows } = await db.query("select 1 from pgboss.job where name = 'node._schedules'");
  expect(rows).toEqual([]);
  expect(after).toBe(await total());
  await until(async () => (await pawl.runs.list({ statuses: [3] })).runs.length === 0, {
    what: "every run to end",
  });
  expect(await checkInvariants(cluster.databaseUrl)).toEqual([]);
});
