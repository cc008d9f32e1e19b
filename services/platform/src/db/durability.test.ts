import { expect, onTestFinished, test } from "vitest";
import { startPrivatePostgres } from "../../../../test/support/postgres.ts";
import { ReadyNotes } from "../lifecycle/ready-notes.ts";
import { createLogger } from "../telemetry/log.ts";
import { unsafeSettings, watchDurability } from "./durability.ts";
import { openPool } from "./pool.ts";

const open = (url: string) => openPool(url, { max: 1, name: "pawl-durability" });

test("a setting that may lose commits gets a note, a safe setting gets none, and an outage changes nothing", async () => {
  const postgres = await startPrivatePostgres();
  onTestFinished(() => postgres.stop());
  const pool = open(postgres.url);
  onTestFinished(() => pool.end());
  const notes = new ReadyNotes();
  const log = createLogger({ service: "test", level: "silent" });
  const watch = watchDurability(pool, { notes, log });
  onTestFinished(() => watch.stop());
  await watch.look();
  expect(notes.all).toEqual({});
  await postgres.crash("SIGINT");
  await postgres.restart(["fsync=off", "full_page_writes=off"]);
  await expect.poll(async () => await unsafeSettings(pool)).toEqual(["fsync", "full_page_writes"]);
  await watch.look();
  expect(Object.keys(notes.all)).toEqual(["database.fsync", "database.full_page_writes"]);
  expect(notes.all["database.fsync"]).toContain("Set fsync = on");
  await postgres.crash("SIGINT");
  await watch.look();
  expect(Object.keys(notes.all)).toEqual(["database.fsync", "database.full_page_writes"]);
  await postgres.restart();
  await expect.poll(async () => await unsafeSettings(pool)).toEqual([]);
  await watch.look();
  expect(notes.all).toEqual({});
});

test("a role that turns synchronous_commit off for its own sessions is found", async () => {
  const postgres = await startPrivatePostgres();
  onTestFinished(() => postgres.stop());
  const admin = open(postgres.url);
  onTestFinished(() => admin.end());
  await admin.query({ text: "alter role postgres set synchronous_commit = off" });
  const pool = open(postgres.url);
  onTestFinished(() => pool.end());
  expect(await unsafeSettings(pool)).toEqual(["synchronous_commit"]);
});
