// Lanes over real sockets: when a lane leaves a stream, and what happens to the commands on it.

import { create, toBinary } from "@bufbuild/protobuf";
import { EngineError } from "@pawl/core/fault/engine-error";
import { type Command, CommandService } from "@pawl/proto/pawl/command/v1/command_service_pb";
import { StartRunResponseSchema } from "@pawl/proto/pawl/v1/run_service_pb";
import { expect, onTestFinished, test } from "vitest";

import { startGrpcServer } from "../rpc/grpc-server.ts";
import { type Implementation, serve } from "../rpc/implementation.ts";
import { toStatus } from "../rpc/status.ts";
import { connectWith, started, startServer, wayTo } from "./command.fixture.ts";

test("commands under way when a server freezes are sent again to another server, long before their time is over", async () => {
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
  // It starts later, so that every command goes to the server that will freeze.
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

test("a lane stays with a server that is slow with one command", async () => {
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

/** A server whose first stream holds the answer to its first command back and refuses all others, as a scheduler that drains does. */
async function startDraining() {
  const release = Promise.withResolvers<void>();
  const counts = { streams: 0, refusals: 0 };
  const response = toBinary(
    StartRunResponseSchema,
    create(StartRunResponseSchema, started("answered")),
  );
  const draining = toStatus(new EngineError("DRAINING", "stopping"), () => undefined);
  const carry: NonNullable<Implementation<typeof CommandService>["carry"]> = async (stream) => {
    counts.streams += 1;
    const isFirst = counts.streams === 1;
    let isHolding = false;
    const answer = ({ commandId }: Command): void => {
      const answered = { commandId, result: { case: "response" as const, value: response } };
      if (!isFirst) return void stream.write({ answers: [answered] });
      if (!isHolding) {
        isHolding = true;
        return void release.promise.then(() => stream.write({ answers: [answered] }));
      }
      counts.refusals += 1;
      stream.write({ answers: [{ commandId, result: { case: "refusal", value: draining } }] });
    };
    stream.listen({ message: ({ commands }) => commands.forEach(answer) });
    await stream.closed;
  };
  const server = await startGrpcServer({
    ...{ host: "127.0.0.1", port: 0, onInternal: () => undefined },
    services: [serve(CommandService, { carry })],
  });
  onTestFinished(() => server.stop(0));
  return { server, counts, release: release.resolve };
}

test("a lane leaves a stream that drains although an answer is still to come on it", async () => {
  const { server, counts, release } = await startDraining();
  const calls = connectWith({}, server);
  const slow = calls.startRun({});
  // Every lane gets several commands.
  for (let turns = 0; turns < 16; turns += 1)
    expect((await calls.startRun({})).run?.runId).toBe("answered");
  expect(counts.refusals).toBe(1);
  release();
  expect((await slow).run?.runId).toBe("answered");
});

test("a lane replaces an old stream, so that a server that starts later gets its share", async () => {
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
  // The lane left this stream long ago, and still gets the answer on it.
  release.resolve();
  expect((await slow).run?.runId).toBe("first");
});

test("commands on a replaced stream are sent again when it breaks", async () => {
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
  // Each lane has replaced its stream.
  for (let turns = 0; turns < 8; turns += 1) await calls.startRun({});
  way.shut();
  way.open((await startServer({ startRun: async () => started("living") })).server);
  expect((await slow).run?.runId).toBe("living");
});
