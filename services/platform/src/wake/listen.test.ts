import { runId } from "@pawl/core/name/ids";
import { expect, onTestFinished, test } from "vitest";
import { freshDatabase } from "../../../../test/support/postgres.ts";
import { openPool } from "../db/pool.ts";
import { parseEnd, parseWake, WakeListener, wakeOf } from "./listen.ts";

const A = runId("0198c0de-0000-7000-8000-00000000000a");
const B = runId("0198c0de-0000-7000-8000-00000000000b");

test("a payload names runs, how far their logs reach and which of them ended", () => {
  const wakes = [
    { runId: A, lastSeq: 3, ended: false },
    { runId: B, lastSeq: 41, ended: true },
  ];
  expect(parseWake(`${A}:3,${B}:41!`)).toEqual(wakes);
  expect(parseWake(wakes.map(wakeOf).join(","))).toEqual(wakes);
});

test("what is not understood may be news of any run", () => {
  for (const payload of ["*", "", "x:1", A, `${A}:x`, `${A}:1,`, `${A}:1!!`]) {
    expect(parseWake(payload)).toBeUndefined();
  }
});

test("a payload that is no terminal event is ignored: the hint behind it says that there is news", () => {
  const columns = [A, 3, "run.completed", "", 0, 0, 0, { hasFailures: false }, null, 5];
  const event = { runId: A, seq: 3, type: "run.completed", at: 5 };
  expect(parseEnd(JSON.stringify(columns))).toMatchObject(event);
  const others = [
    columns.with(0, "x"),
    columns.with(1, "3"),
    columns.with(2, "node.completed"),
    columns.with(7, null),
    columns.with(8, 1),
    columns.slice(0, -1),
    {},
    [],
  ];
  for (const payload of ["", "*", "[", ...others.map((other) => JSON.stringify(other))])
    expect(parseEnd(payload)).toBeUndefined();
});

test("columns that a scheduler of the build before sends behind an event are ignored", () => {
  const columns = [A, 3, "run.completed", "", 0, 0, 0, { hasFailures: false }, null, 5];
  expect(parseEnd(JSON.stringify([...columns, B, 2, 9]))).toEqual(
    parseEnd(JSON.stringify(columns)),
  );
});

async function setup() {
  const database = await freshDatabase();
  const pool = openPool(database.url, { max: 1, name: "test" });
  const heard: string[] = [];
  const waiting: { what: string; resolve: () => void }[] = [];
  const say = (what: string): void => {
    heard.push(what);
    for (const one of waiting) if (one.what === what) one.resolve();
  };
  const listener = new WakeListener(database.url, {
    onRun: (run, lastSeq) => say(`${run}:${lastSeq}`),
    onEnd: ({ runId: run, seq }) => say(`${run} ended at ${seq}`),
    onAll: () => say("all"),
    onListening: (isListening) => say(isListening ? "listening" : "deaf"),
  });
  onTestFinished(async () => {
    await listener.stop();
    await pool.end();
    await database.drop();
  });
  const hear = (what: string): Promise<void> =>
    new Promise((resolve) => void waiting.push({ what, resolve }));
  const notify = (payload: string, channel = "pawl_runs") =>
    pool.query({ text: "select pg_notify($2, $1)", values: [payload, channel] });
  const cut = () =>
    pool.query({
      text: "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'pawl-listen' and datname = current_database()",
    });
  return { listener, heard, hear, notify, cut };
}

test("hints arrive, and a cut connection comes back as news of all runs (F6)", async () => {
  const { listener, heard, hear, notify, cut } = await setup();
  const ready = hear("all");
  listener.start();
  await ready;
  const first = hear(`${A}:3`);
  await notify(`${A}:3`);
  await first;
  expect(heard).toEqual(["listening", "all", `${A}:3`]);
  const again = hear("all");
  await cut();
  await again;
  expect(heard.slice(3)).toEqual(["deaf", "listening", "all"]);
  const ended = hear(`${A} ended at 3`);
  await notify(JSON.stringify([A, 3, "run.failed", "", 0, 0, 0, {}, null, 5]), "pawl_ends");
  await ended;
  const second = hear(`${B}:4`);
  await notify(`${B}:4`);
  await second;
});
