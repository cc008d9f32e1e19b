import { runId } from "@pawl/core/name/ids";
import { expect, onTestFinished, test } from "vitest";
import { freshDatabase } from "../../../../test/support/postgres.ts";
import { within } from "../../../../test/support/until.ts";
import { openPool } from "../db/pool.ts";
import { parseWake, WakeListener, wakeOf } from "./listen.ts";

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

test("a payload that this build does not understand may be news of any run", () => {
  for (const payload of ["*", "", "x:1", A, `${A}:x`, `${A}:1,`, `${A}:1!!`]) {
    expect(parseWake(payload)).toBeUndefined();
  }
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
    onThread: (threadId) => say(`thread ${threadId}`),
    onAll: () => say("all"),
    onListening: (isListening) => say(isListening ? "listening" : "deaf"),
  });
  onTestFinished(async () => {
    await listener.stop();
    await pool.end();
    await database.drop();
  });
  const hear = (what: string): Promise<void> =>
    within(new Promise((resolve) => void waiting.push({ what, resolve })), { what });
  const notify = (payload: string, channel = "pawl_runs") =>
    pool.query({ text: "select pg_notify($2, $1)", values: [payload, channel] });
  const cut = () =>
    pool.query({
      text: "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'pawl-listen' and datname = current_database()",
    });
  return { listener, heard, hear, notify, cut };
}

test("hints arrive, and after a broken connection any run may have news (F6)", async () => {
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
  const thread = hear("thread chat");
  await notify("chat", "pawl_threads");
  await thread;
  const second = hear(`${B}:4`);
  await notify(`${B}:4`);
  await second;
});
