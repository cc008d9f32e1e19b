// Client and server against one another over real sockets.

import { create } from "@bufbuild/protobuf";
import { LIMITS } from "@pawl/core/data/limits";
import { EngineError } from "@pawl/core/fault/engine-error";
import { Health, HealthCheckResponse_ServingStatus } from "@pawl/proto/grpc/health/v1/health_pb";
import { ServerReflection } from "@pawl/proto/grpc/reflection/v1/reflection_pb";
import { GetRunResponseSchema, RunService } from "@pawl/proto/pawl/v1/run_service_pb";
import { expect, onTestFinished, test } from "vitest";

import { within } from "../../../../test/support/until.ts";
import { wayTo } from "../lanes/command.fixture.ts";
import { createGrpcClient } from "./grpc-client.ts";
import { startGrpcServer, type GrpcServerOptions } from "./grpc-server.ts";
import { serve, type Implementation } from "./implementation.ts";

type Options = Partial<GrpcServerOptions>;

const startServer = async (options: Options) => {
  const faults: unknown[] = [];
  const server = await startGrpcServer({
    host: "127.0.0.1",
    port: 0,
    services: [],
    onInternal: ({ error }) => void faults.push(error),
    ...options,
  });
  onTestFinished(() => server.stop(0));
  return { server, faults };
};

const setup = async (implementation: Implementation<typeof RunService>, options: Options = {}) => {
  const { server, faults } = await startServer({
    services: [serve(RunService, implementation)],
    ...options,
  });
  const client = createGrpcClient(RunService, `127.0.0.1:${server.port}`);
  onTestFinished(() => client.close());
  return { server, faults, client };
};

const rejection = async (work: Promise<unknown>): Promise<EngineError> => {
  const error: unknown = await work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (error instanceof EngineError) return error;
  throw new Error("expected an EngineError", { cause: error });
};

test("a unary call is answered with an init object or a whole message, and bytes are plain", async () => {
  const { client } = await setup({
    getRun: async ({ runId }) => {
      const definitionJson = new TextEncoder().encode(`{"id":"${runId}"}`);
      return runId === "a" ? { definitionJson } : create(GetRunResponseSchema, { definitionJson });
    },
  });
  for (const runId of ["a", "b"]) {
    const { definitionJson } = await client.call.getRun({ runId });
    expect(Buffer.isBuffer(definitionJson)).toBe(false);
    expect(new TextDecoder().decode(definitionJson)).toBe(`{"id":"${runId}"}`);
  }
});

test("an error arrives with its reason, metadata and violations", async () => {
  const violations = [{ field: "run_id", description: "is no uuid", reason: "FORMAT" }];
  const { client } = await setup({
    getRun: () =>
      Promise.reject(
        new EngineError("INPUT_INVALID", "bad run id", {
          metadata: { field: "run_id" },
          violations,
        }),
      ),
  });
  const error = await rejection(client.call.getRun({}));
  expect(error).toMatchObject({
    reason: "INPUT_INVALID",
    message: "bad run id",
    metadata: { field: "run_id" },
    violations,
  });
});

test("a synchronous throw of a handler is answered, logged and does not end the process", async () => {
  const bug = new TypeError("bug");
  const { client, faults } = await setup({
    getRun: () => {
      throw bug;
    },
  });
  expect((await rejection(client.call.getRun({}))).reason).toBe("INTERNAL");
  expect(faults).toEqual([bug]);
});

test("a method that is not served answers UNKNOWN_METHOD", async () => {
  const { client } = await setup({});
  expect((await rejection(client.call.listRuns({}))).reason).toBe("UNKNOWN_METHOD");
});

test("the caller's deadline ends the call on both sides", async () => {
  const seen = Promise.withResolvers<unknown>();
  const { client } = await setup({
    getRun: (_, call) => {
      call.signal.addEventListener("abort", () => seen.resolve(call.signal.reason));
      return new Promise(() => undefined);
    },
  });
  // The deadline counts from the call, so the channel is open before.
  await client.waitForReady(30_000);
  const error = await rejection(client.call.getRun({}, { timeoutMs: 800 }));
  expect(error.reason).toBe("DEADLINE_PASSED");
  const reason = await within(seen.promise, { what: "the handler to be aborted" });
  expect(reason).toBeInstanceOf(EngineError);
});

test("the server bounds a call whose caller would wait for ever", async () => {
  const { client, faults } = await setup(
    { getRun: () => new Promise(() => undefined) },
    { unaryDeadlineMs: 50 },
  );
  const error = await rejection(client.call.getRun({}, { timeoutMs: 30_000 }));
  expect(error.reason).toBe("DEADLINE_PASSED");
  expect(faults).toEqual([]);
});

test("aborting the caller's signal cancels the handler", async () => {
  const entered = Promise.withResolvers<AbortSignal>();
  const { client } = await setup({
    getRun: (_, call) => {
      entered.resolve(call.signal);
      return new Promise(() => undefined);
    },
  });
  const controller = new AbortController();
  const call = rejection(client.call.getRun({}, { signal: controller.signal }));
  const signal = await entered.promise;
  const left = new Promise((resolve) => signal.addEventListener("abort", resolve));
  controller.abort();
  expect((await call).reason).toBe("CALLER_CANCELLED");
  await left;
  expect((await rejection(client.call.getRun({}, { signal: controller.signal }))).reason).toBe(
    "CALLER_CANCELLED",
  );
});

test("a message over the limit is refused as LIMIT_EXCEEDED", async () => {
  const { server } = await setup({ startRun: async () => ({}) });
  const messageBytes = 2 * LIMITS.messageBytes;
  const client = createGrpcClient(RunService, `127.0.0.1:${server.port}`, { messageBytes });
  onTestFinished(() => client.close());
  const inputJson = new Uint8Array(LIMITS.messageBytes + 1);
  const error = await rejection(client.call.startRun({ inputJson }));
  expect(error.reason).toBe("LIMIT_EXCEEDED");
});

test("a peer that is not there is SCHEDULER_UNAVAILABLE, and is found again when it returns", async () => {
  const { server } = await setup({ getRun: async () => ({}) });
  const way = await wayTo(server);
  const client = createGrpcClient(RunService, `127.0.0.1:${way.port}`);
  onTestFinished(() => client.close());
  await client.call.getRun({});
  way.shut();
  const error = await rejection(client.call.getRun({}));
  expect(error).toMatchObject({ reason: "SCHEDULER_UNAVAILABLE", retryable: true });
  way.open();
  await client.waitForReady(30_000);
  await client.call.getRun({});
});

test("health follows setServing for every service and for the server", async () => {
  const { server } = await setup({});
  const health = createGrpcClient(Health, `127.0.0.1:${server.port}`);
  onTestFinished(() => health.close());
  const statuses = () =>
    Promise.all(
      ["", "pawl.v1.RunService"].map(
        async (service) => (await health.call.check({ service })).status,
      ),
    );
  const { SERVING, NOT_SERVING } = HealthCheckResponse_ServingStatus;
  expect(await statuses()).toEqual([SERVING, SERVING]);
  server.setServing(false);
  expect(await statuses()).toEqual([NOT_SERVING, NOT_SERVING]);
  expect((await rejection(health.call.check({ service: "nobody" }))).reason).toBe("INTERNAL");
});

test.each(["v1", "v1alpha"])(
  "reflection %s lists the services and gives their files",
  async (of) => {
    const { server } = await setup({}, { reflection: true });
    // The two have the same messages.
    const typeName = `grpc.reflection.${of}.ServerReflection`;
    const service = { ...ServerReflection, typeName } as typeof ServerReflection;
    const reflection = createGrpcClient(service, `127.0.0.1:${server.port}`);
    onTestFinished(() => reflection.close());
    const stream = reflection.open.serverReflectionInfo();
    const services: string[] = [];
    let files = 0;
    stream.listen({
      message: ({ messageResponse }) => {
        if (messageResponse.case === "listServicesResponse") {
          services.push(...messageResponse.value.service.map(({ name }) => name));
        }
        if (messageResponse.case === "fileDescriptorResponse") {
          files = messageResponse.value.fileDescriptorProto.length;
        }
      },
    });
    stream.write({ messageRequest: { case: "listServices", value: "" } });
    const fileContainingSymbol = "pawl.v1.RunService";
    stream.write({ messageRequest: { case: "fileContainingSymbol", value: fileContainingSymbol } });
    stream.end();
    expect(await stream.closed).toEqual({});
    expect(services).toContain("pawl.v1.RunService");
    expect(files).toBeGreaterThan(1);
  },
);

test("a server without reflection answers no reflection call", async () => {
  const { server } = await setup({});
  const reflection = createGrpcClient(ServerReflection, `127.0.0.1:${server.port}`);
  onTestFinished(() => reflection.close());
  const stream = reflection.open.serverReflectionInfo();
  stream.listen({ message: () => undefined });
  expect((await stream.closed).error?.reason).toBe("UNKNOWN_METHOD");
});

test("a port that is taken is refused at the start", async () => {
  const { server } = await setup({});
  await expect(startServer({ port: server.port })).rejects.toThrow(/EADDRINUSE/);
});

test("a stop lets a call end within its grace", async () => {
  const entered = Promise.withResolvers<void>();
  const leave = Promise.withResolvers<void>();
  const { server, client } = await setup({
    getRun: async () => {
      entered.resolve();
      await leave.promise;
      return {};
    },
  });
  const call = client.call.getRun({});
  await entered.promise;
  const stopped = server.stop(10_000);
  leave.resolve();
  await Promise.all([call, stopped]);
});
