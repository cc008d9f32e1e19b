// Commands against one another over real sockets: the client's lanes and the server's streams.

import { stat } from "node:fs/promises";
import { type AddressInfo, connect as dial, createServer, type Socket } from "node:net";
import { LIMITS } from "@pawl/core/data/limits";
import { EngineError } from "@pawl/core/fault/engine-error";
import { RunService } from "@pawl/proto/pawl/v1/run_service_pb";
import { expect, onTestFinished, test } from "vitest";

import { createCommandClient, type CommandClientOptions } from "./command-client.ts";
import { ENVELOPE_BYTES } from "./command-lane.ts";
import { serveCommands, type CommandServer } from "./command-server.ts";
import { startGrpcServer } from "./grpc-server.ts";
import { serve, type Implementation } from "./implementation.ts";

type Runs = Implementation<typeof RunService>;

async function startServer(runs: Runs, port = 0) {
  const faults: unknown[] = [];
  const onInternal = ({ error }: { readonly error: unknown }): void => void faults.push(error);
  const commands = serveCommands([serve(RunService, runs)], onInternal);
  const server = await startGrpcServer({
    host: "127.0.0.1",
    port,
    services: [commands.service],
    onInternal,
  });
  onTestFinished(() => server.stop(0));
  return { server, commands, faults };
}

interface Reachable {
  readonly port: number;
}

function connect(...servers: readonly Reachable[]) {
  return connectWith({}, ...servers);
}

function connectWith(options: CommandClientOptions, ...servers: readonly Reachable[]) {
  const address = servers.map(({ port }) => `127.0.0.1:${port}`).join(",");
  const client = createCommandClient(address, options);
  onTestFinished(() => client.close());
  return client.callsOf(RunService);
}

/** A way to a server that can freeze as a stopped process does: it accepts and never answers. */
async function freezable({ port }: Reachable) {
  let isFrozen = false;
  const pairs: [Socket, Socket][] = [];
  const way = createServer((near) => {
    const far = dial(port, "127.0.0.1");
    pairs.push([near, far]);
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      from.on("error", () => undefined);
      from.on("close", () => to.destroy());
      from.on("data", (bytes) => isFrozen || to.write(bytes));
    }
  });
  const { promise, resolve } = Promise.withResolvers<void>();
  way.listen(0, "127.0.0.1", resolve);
  await promise;
  onTestFinished(() => {
    for (const pair of pairs) for (const socket of pair) socket.destroy();
    way.close();
  });
  return { port: (way.address() as AddressInfo).port, freeze: () => void (isFrozen = true) };
}

/** A turn of the event loop: reading a file takes one at least. */
const turn = async (): Promise<void> => void (await stat(import.meta.filename));

const started = (runId: string) => ({ run: { runId } });
const refusalOf = async (work: Promise<unknown>): Promise<EngineError> => {
  const thrown: unknown = await work.then(
    () => undefined,
    (error: unknown) => error,
  );
  if (thrown instanceof EngineError) return thrown;
  throw new Error("expected an EngineError", { cause: thrown });
};

test("many commands at once are each answered with what was asked for, in whatever order they are ready", async () => {
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
  const inputJson = new Uint8Array(LIMITS.messageBytes - ENVELOPE_BYTES);
  expect(await refusalOf(calls.startRun({ inputJson }))).toMatchObject({
    reason: "LIMIT_EXCEEDED",
  });
  const fits = new Uint8Array(LIMITS.messageBytes - ENVELOPE_BYTES - 64);
  expect((await calls.startRun({ inputJson: fits })).run?.runId).toBe("r");
});

test("a caller may give up; the command goes on and the next one is answered", async () => {
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

test("commands under way when a server dies are asked again elsewhere", async () => {
  const arrived = Promise.withResolvers<void>();
  const seen: string[] = [];
  const dying = await startServer({
    startRun: async ({ requestId }) => {
      seen.push(requestId);
      arrived.resolve();
      return await new Promise(() => undefined);
    },
  });
  const living = await startServer({
    startRun: async ({ requestId }) => started(`again-${requestId}`),
  });
  const calls = connect(dying.server, living.server);
  const ids = Array.from({ length: 40 }, (_, index) => String(index));
  const answers: ReturnType<typeof calls.startRun>[] = [];
  for (const requestId of ids) {
    answers.push(calls.startRun({ requestId }));
    // A lane for each turn of the event loop, so that both servers get some.
    await turn();
  }
  await arrived.promise;
  await dying.server.stop(0);
  const runs = await Promise.all(answers);
  expect(runs.map(({ run }) => run?.runId)).toEqual(ids.map((id) => `again-${id}`));
  expect(seen.length).toBeGreaterThan(0);
});

test("commands under way when a server freezes are asked again elsewhere, long before their time is over", async () => {
  const arrived = Promise.withResolvers<void>();
  const freezing = await startServer({
    startRun: async () => {
      arrived.resolve();
      return await new Promise(() => undefined);
    },
  });
  const way = await freezable(freezing.server);
  const living: Runs = { startRun: async ({ requestId }) => started(`again-${requestId}`) };
  const { server } = await startServer(living);
  // Not there at first, so that every command goes to the one that will freeze.
  await server.stop(0);
  const calls = connectWith({ keepalive: { everyMs: 50, patienceMs: 200 } }, way, server);
  const ids = Array.from({ length: 40 }, (_, index) => String(index));
  const answers = ids.map((requestId) => calls.startRun({ requestId }, { timeoutMs: 60_000 }));
  await arrived.promise;
  way.freeze();
  await startServer(living, server.port);
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
  const second: Runs = { startRun: async () => started("second") };
  const { server } = await startServer(second);
  await server.stop(0);
  const calls = connectWith({ streamMs: 0 }, first.server, server);
  const slow = calls.startRun({ workflowId: "slow" });
  expect((await calls.startRun({})).run?.runId).toBe("first");
  await startServer(second, server.port);
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
  const calls = connectWith({ streamMs: 0 }, dying.server);
  const slow = calls.startRun({ workflowId: "slow" });
  await arrived.promise;
  // Each lane has left the stream it had.
  for (let turns = 0; turns < 8; turns += 1) await calls.startRun({});
  await dying.server.stop(0);
  await startServer({ startRun: async () => started("living") }, dying.server.port);
  expect((await slow).run?.runId).toBe("living");
});

test("a server that drains answers what it has, and what comes later goes elsewhere", async () => {
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

test("while nobody is there a command waits for a while, and is served by who comes", async () => {
  const first = await startServer({ startRun: async () => started("first") });
  const { port } = first.server;
  const calls = connect(first.server);
  expect((await calls.startRun({})).run?.runId).toBe("first");
  await first.server.stop(0);
  const asked = calls.startRun({});
  await startServer({ startRun: async () => started("second") }, port);
  expect((await asked).run?.runId).toBe("second");
});
