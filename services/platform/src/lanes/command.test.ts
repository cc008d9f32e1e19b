// Commands over real sockets: the client's lanes and the server's streams.

import { LIMITS } from "@pawl/core/data/limits";
import { EngineError } from "@pawl/core/fault/engine-error";
import { expect, test } from "vitest";

import type { CommandServer } from "./command-server.ts";
import { connect, refusalOf, started, startServer, turn, wayTo } from "./command.fixture.ts";

test("each of many commands gets its own answer, in whatever order the answers are ready", async () => {
  const { server } = await startServer({
    startRun: async ({ workflowId }) => {
      // Every third answer is ready only in a later turn, when others have left already.
      if (Number(workflowId) % 3 === 0) await turn();
      else if (Number(workflowId) % 3 === 1) await Promise.resolve();
      return started(`run-${workflowId}`);
    },
  });
  const calls = connect(server);
  const ids = Array.from({ length: 302 }, (_, index) => String(index));
  const answers = await Promise.all(ids.map((workflowId) => calls.startRun({ workflowId })));
  expect(answers.map(({ run }) => run?.runId)).toEqual(ids.map((id) => `run-${id}`));
});

test("a refusal arrives with its reason, metadata and violations, and hurts no other command", async () => {
  const { server, faults } = await startServer({
    startRun: async ({ workflowId }) => {
      if (workflowId === "ok") return started("r");
      if (workflowId === "bug") throw new TypeError("a bug of ours");
      throw new EngineError("INPUT_INVALID", "Not like that.", {
        metadata: { workflow_id: workflowId },
        violations: [{ field: "input", reason: "WRONG_TYPE", description: "is no object" }],
      });
    },
  });
  const calls = connect(server);
  const [good, bad, bug] = await Promise.all([
    calls.startRun({ workflowId: "ok" }),
    refusalOf(calls.startRun({ workflowId: "bad" })),
    refusalOf(calls.startRun({ workflowId: "bug" })),
  ]);
  expect(good.run?.runId).toBe("r");
  expect(bad).toMatchObject({
    reason: "INPUT_INVALID",
    message: "Not like that.",
    metadata: { workflow_id: "bad" },
    violations: [{ field: "input", description: "is no object" }],
  });
  expect(bug).toMatchObject({ reason: "INTERNAL" });
  expect(bug.message).not.toContain("a bug of ours");
  expect(faults).toHaveLength(1);
});

test("a method that is not served is refused, and one too large is not even sent", async () => {
  const { server } = await startServer({ startRun: async () => started("r") });
  const calls = connect(server);
  expect(await refusalOf(calls.cancelRun({ runId: "r" }))).toMatchObject({
    reason: "UNKNOWN_METHOD",
  });
  const inputJson = new Uint8Array(LIMITS.itemBytes);
  const refusal = await refusalOf(calls.startRun({ inputJson }));
  expect(refusal).toMatchObject({ reason: "LIMIT_EXCEEDED" });
  expect(refusal.message).toMatch(/takes \d{7} bytes; at most \d{7}/);
  const fits = new Uint8Array(LIMITS.itemBytes - 64);
  expect((await calls.startRun({ inputJson: fits })).run?.runId).toBe("r");
});

test("large answers that are ready at once leave in several messages, and no command is sent twice", async () => {
  const asked = Promise.withResolvers<void>();
  let count = 0;
  const { server } = await startServer({
    startRun: async ({ workflowId }) => {
      count += 1;
      if (count === 20) asked.resolve();
      await asked.promise;
      return { run: { runId: workflowId, outputJson: new Uint8Array(500_000) } };
    },
  });
  const calls = connect(server);
  const ids = Array.from({ length: 20 }, (_, index) => String(index));
  const answers = await Promise.all(ids.map((workflowId) => calls.startRun({ workflowId })));
  expect(answers.map(({ run }) => run?.runId)).toEqual(ids);
  expect(count).toBe(20);
});

test("an answer or a refusal that fits no message is a refusal that names its size, and hurts no other command", async () => {
  const { server } = await startServer({
    startRun: async ({ workflowId }) => {
      if (workflowId === "ok") return started("r");
      if (workflowId === "large")
        return { run: { outputJson: new Uint8Array(LIMITS.messageBytes) } };
      const violation = {
        field: "f".repeat(1_000),
        reason: "WRONG",
        description: "d".repeat(1_000),
      };
      throw new EngineError("DEFINITION_INVALID", "Not like that.", {
        violations: Array.from({ length: 5_000 }, () => violation),
      });
    },
  });
  const calls = connect(server);
  const [large, , ok] = await Promise.all([
    refusalOf(calls.startRun({ workflowId: "large" })),
    refusalOf(calls.startRun({ workflowId: "wordy" })),
    calls.startRun({ workflowId: "ok" }),
  ]);
  expect(large).toMatchObject({ reason: "LIMIT_EXCEEDED" });
  expect(large.message).toMatch(/takes \d{7} bytes/);
  expect(ok.run?.runId).toBe("r");
});

test("a caller may give up; the command still runs, and the next one is answered", async () => {
  const arrived = Promise.withResolvers<void>();
  const release = Promise.withResolvers<void>();
  const { server } = await startServer({
    startRun: async ({ workflowId }) => {
      if (workflowId !== "slow") return started("r");
      arrived.resolve();
      await release.promise;
      return started("late");
    },
  });
  const calls = connect(server);
  const caller = new AbortController();
  const given = refusalOf(calls.startRun({ workflowId: "slow" }, { signal: caller.signal }));
  await arrived.promise;
  caller.abort();
  expect(await given).toMatchObject({ reason: "CALLER_CANCELLED" });
  const timed = refusalOf(calls.startRun({ workflowId: "slow" }, { timeoutMs: 20 }));
  expect(await timed).toMatchObject({ reason: "DEADLINE_PASSED" });
  release.resolve();
  expect((await calls.startRun({ workflowId: "next" })).run?.runId).toBe("r");
  const aborted = AbortSignal.abort();
  const before = refusalOf(calls.startRun({ workflowId: "x" }, { signal: aborted }));
  expect(await before).toMatchObject({ reason: "CALLER_CANCELLED" });
});

test("commands under way when a server dies are sent again to another server", async () => {
  const arrived = Promise.withResolvers<number>();
  let dying: number | undefined;
  const servers = await Promise.all(
    [0, 1].map((index) =>
      startServer({
        startRun: async ({ requestId }) => {
          // The channel may connect to one server before the other, so the server of the first command is the one that dies.
          dying ??= index;
          if (index !== dying) return started(`again-${requestId}`);
          arrived.resolve(index);
          return await new Promise(() => undefined);
        },
      }),
    ),
  );
  const calls = connect(...servers.map(({ server }) => server));
  const ids = Array.from({ length: 40 }, (_, index) => String(index));
  const answers: ReturnType<typeof calls.startRun>[] = [];
  for (const requestId of ids) {
    answers.push(calls.startRun({ requestId }));
    // A lane for each turn of the event loop, so that all lanes carry commands.
    await turn();
  }
  await servers[await arrived.promise]?.server.stop(0);
  const runs = await Promise.all(answers);
  expect(runs.map(({ run }) => run?.runId)).toEqual(ids.map((id) => `again-${id}`));
});

test("a server that drains answers its commands, and later commands go to another server", async () => {
  const arrived = Promise.withResolvers<void>();
  const release = Promise.withResolvers<void>();
  let draining: CommandServer | undefined;
  const names = ["first", "second"];
  const servers = await Promise.all(
    names.map((name) =>
      startServer({
        startRun: async ({ workflowId }) => {
          if (workflowId === "slow") {
            draining = servers[names.indexOf(name)]?.commands;
            arrived.resolve();
            await release.promise;
          }
          return started(name);
        },
      }),
    ),
  );
  const calls = connect(...servers.map(({ server }) => server));
  const slow = calls.startRun({ workflowId: "slow" });
  await arrived.promise;
  draining?.drain();
  const drained = servers.findIndex(({ commands }) => commands === draining);
  const others = await Promise.all(
    Array.from({ length: 20 }, () => calls.startRun({ workflowId: "x" })),
  );
  expect(new Set(others.map(({ run }) => run?.runId))).toEqual(new Set([names[1 - drained]]));
  release.resolve();
  expect((await slow).run?.runId).toBe(names[drained]);
});

test("without a server a command waits for a while, and the first server that starts answers it", async () => {
  const first = await startServer({ startRun: async () => started("first") });
  const way = await wayTo(first.server);
  const calls = connect(way);
  expect((await calls.startRun({})).run?.runId).toBe("first");
  way.shut();
  const asked = calls.startRun({});
  way.open((await startServer({ startRun: async () => started("second") })).server);
  expect((await asked).run?.runId).toBe("second");
});
