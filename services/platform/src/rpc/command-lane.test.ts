// Lanes over real sockets: when a stream is left, and what becomes of the commands on it.

import { expect, test } from "vitest";

import { connectWith, started, startServer, wayTo } from "./command.fixture.ts";

test("commands under way when a server freezes are asked again elsewhere, long before their time is over", async () => {
  const arrived = Promise.withResolvers<void>();
  const freezing = await startServer({
    startRun: async () => {
      arrived.resolve();
      return await new Promise(() => undefined);
    },
  });
  const living = await startServer({
    startRun: async ({ requestId }) => started(`again-${requestId}`),
  });
  const frozen = await wayTo(freezing.server);
  const other = await wayTo(living.server);
  // Not there at first, so that every command goes to the one that will freeze.
  other.shut();
  const calls = connectWith({ keepalive: { everyMs: 50, patienceMs: 200 } }, frozen, other);
  const ids = Array.from({ length: 40 }, (_, index) => String(index));
  const answers = ids.map((requestId) => calls.startRun({ requestId }, { timeoutMs: 60_000 }));
  await arrived.promise;
  frozen.freeze();
  other.open();
  const runs = await Promise.all(answers);
  expect(runs.map(({ run }) => run?.runId)).toEqual(ids.map((id) => `again-${id}`));
});

test("a server that is slow with one command is not left for it", async () => {
  const release = Promise.withResolvers<void>();
  let asked = 0;
  const { server } = await startServer({
    startRun: async ({ workflowId }) => {
      asked += 1;
      if (workflowId === "slow") await release.promise;
      return started(workflowId);
    },
  });
  const calls = connectWith({ keepalive: { everyMs: 1, patienceMs: 5_000 } }, server);
  const slow = calls.startRun({ workflowId: "slow" });
  // A few hundred answers and about as many pings later.
  for (let round = 0; round < 300; round += 1) await calls.startRun({ workflowId: "quick" });
  release.resolve();
  expect((await slow).run?.runId).toBe("slow");
  expect(asked).toBe(301);
});

test("an old stream is left for another, so that a server that comes later gets its share", async () => {
  const release = Promise.withResolvers<void>();
  const first = await startServer({
    startRun: async ({ workflowId }) => {
      if (workflowId === "slow") await release.promise;
      return started("first");
    },
  });
  const second = await startServer({ startRun: async () => started("second") });
  const later = await wayTo(second.server);
  later.shut();
  const calls = connectWith({ streamMs: 0 }, first.server, later);
  const slow = calls.startRun({ workflowId: "slow" });
  expect((await calls.startRun({})).run?.runId).toBe("first");
  later.open();
  await expect
    .poll(async () => (await calls.startRun({})).run?.runId, { timeout: 20_000, interval: 1 })
    .toBe("second");
  // Its stream was left long ago, and still brings the answer.
  release.resolve();
  expect((await slow).run?.runId).toBe("first");
});

test("commands on a stream that was left are asked again when it breaks", async () => {
  const arrived = Promise.withResolvers<void>();
  const dying = await startServer({
    startRun: async ({ workflowId }) => {
      if (workflowId !== "slow") return started("dying");
      arrived.resolve();
      return await new Promise(() => undefined);
    },
  });
  const way = await wayTo(dying.server);
  const calls = connectWith({ streamMs: 0 }, way);
  const slow = calls.startRun({ workflowId: "slow" });
  await arrived.promise;
  // Each lane has left the stream it had.
  for (let turns = 0; turns < 8; turns += 1) await calls.startRun({});
  way.shut();
  way.open((await startServer({ startRun: async () => started("living") })).server);
  expect((await slow).run?.runId).toBe("living");
});
