import { expect, onTestFinished, test } from "vitest";

import { ReadyNotes } from "../lifecycle/ready-notes.ts";
import { startProbeServer } from "./http.ts";

const setup = async (
  notReady: () => string | undefined | Promise<string | undefined>,
  notes = new ReadyNotes(),
) => {
  const server = await startProbeServer({
    host: "127.0.0.1",
    port: 0,
    metricsText: async () => "pawl_leases 1\n",
    notReady,
    notes,
  });
  onTestFinished(() => server.close());
  return async (path: string, method = "GET", headers: Record<string, string> = {}) => {
    const response = await fetch(`http://127.0.0.1:${server.port}${path}`, { method, headers });
    return { status: response.status, body: await response.text() };
  };
};

test("metrics, health and readiness are served, and nothing else", async () => {
  const ask = await setup(() => undefined);
  expect(await ask("/metrics?x=1")).toEqual({ status: 200, body: "pawl_leases 1\n" });
  expect(await ask("/healthz")).toEqual({ status: 200, body: "ok\n" });
  expect(await ask("/readyz")).toEqual({ status: 200, body: "ready\n" });
  expect(await ask("/readyz", "HEAD")).toEqual({ status: 200, body: "" });
  expect((await ask("/")).status).toBe(404);
  expect((await ask("/constructor")).status).toBe(404);
  expect((await ask("/metrics", "POST")).status).toBe(405);
});

test("a process that is alive but cannot serve reports the reason", async () => {
  const ask = await setup(async () => "the database cannot be reached");
  expect(await ask("/readyz")).toEqual({ status: 503, body: "the database cannot be reached\n" });
  expect((await ask("/healthz")).status).toBe(200);
});

test("a readiness check that throws is not ready", async () => {
  const ask = await setup(() => Promise.reject(new Error("secret detail")));
  expect(await ask("/readyz")).toEqual({ status: 500, body: "the probe failed\n" });
});

test("notes are shown beside the answer, as text and as JSON, and change nothing about it", async () => {
  const notes = new ReadyNotes();
  const json = { accept: "application/json" };
  let reason: string | undefined;
  const ask = await setup(() => reason, notes);
  expect(JSON.parse((await ask("/readyz", "GET", json)).body)).toEqual({ ready: true, notes: {} });
  expect(notes.set("database.fsync", "fsync is off")).toBe(true);
  expect(notes.set("database.fsync", "fsync is off")).toBe(false);
  expect(await ask("/readyz")).toEqual({
    status: 200,
    body: "ready\nnote database.fsync: fsync is off\n",
  });
  reason = "away";
  const answer = await ask("/readyz", "GET", json);
  expect([answer.status, JSON.parse(answer.body)]).toEqual([
    503,
    { ready: false, reason: "away", notes: { "database.fsync": "fsync is off" } },
  ]);
  notes.set("database.fsync", undefined);
  expect((await ask("/readyz")).body).toBe("away\n");
});
