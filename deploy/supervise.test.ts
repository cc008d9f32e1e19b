// Restarting what ends, and stopping for good.
import { expect, test } from "vitest";
import { backoffMs, type Incident, type Lifetime, Supervised } from "./supervise.ts";

function setup(options: { failingStarts?: number } = {}) {
  const lives: { end: (how: string) => void; stopped: boolean }[] = [];
  const incidents: Incident[] = [];
  const waiting: { count: number; resolve: () => void }[] = [];
  let attempts = 0;
  const start = async (): Promise<Lifetime> => {
    attempts += 1;
    if (attempts > 1 && attempts <= 1 + (options.failingStarts ?? 0)) throw new Error("no luck");
    const { promise, resolve } = Promise.withResolvers<string>();
    const life = { end: resolve, stopped: false };
    lives.push(life);
    return {
      pid: lives.length,
      exited: promise,
      async stop() {
        life.stopped = true;
        resolve("stopped");
      },
    };
  };
  const report = (incident: Incident): void => {
    incidents.push(incident);
    for (const one of waiting) if (incidents.length >= one.count) one.resolve();
  };
  const reported = (count: number): Promise<void> => {
    const { promise, resolve } = Promise.withResolvers<void>();
    if (incidents.length >= count) resolve();
    waiting.push({ count, resolve });
    return promise;
  };
  return { supervised: new Supervised({ start, report }), lives, incidents, reported };
}

test("a thing that ends is started again and the end is reported", async () => {
  const { supervised, lives, incidents, reported } = setup();
  await supervised.start();
  lives[0]?.end("SIGKILL");
  await reported(2);
  expect(incidents).toEqual([
    { kind: "ended", how: "SIGKILL", retryMs: 250 },
    { kind: "restarted", pid: 2 },
  ]);
  expect(supervised.pid).toBe(2);
  await supervised.stop();
  expect(lives[1]?.stopped).toBe(true);
});

test("a restart that fails is tried again", async () => {
  const { supervised, lives, incidents, reported } = setup({ failingStarts: 1 });
  await supervised.start();
  lives[0]?.end("exit code 1");
  await reported(3);
  expect(incidents.map(({ kind }) => kind)).toEqual(["ended", "failed", "restarted"]);
  await supervised.stop();
});

test("stopping during a backoff starts nothing more", async () => {
  const { supervised, lives, reported } = setup();
  await supervised.start();
  lives[0]?.end("exit code 1");
  await reported(1);
  await supervised.stop();
  expect(lives).toHaveLength(1);
});

test("the backoff doubles up to its limit", () => {
  expect([0, 1, 2, 3, 20].map(backoffMs)).toEqual([0, 250, 500, 1_000, 10_000]);
});
