// A served process against a host that the test plays over a real socket. The conformance kit has the whole protocol.
import { defineHandler } from "@pawl/core/handler/define";
import { EngineError } from "@pawl/core/fault/engine-error";
import { startGrpcServer } from "@pawl/platform/rpc/grpc-server";
import { serve, type Implementation } from "@pawl/platform/rpc/implementation";
import { HandlerService, type ServeRequest } from "@pawl/proto/pawl/handler/v1/handler_service_pb";
import { expect, onTestFinished, test, vi } from "vitest";
import { z } from "zod";
import { startServing } from "./serve.ts";

type Stream = Parameters<NonNullable<Implementation<typeof HandlerService>["serve"]>>[0];
/** A stream with its first message, and all messages with items so far. */
type Opened = {
  readonly stream: Stream;
  readonly first: ServeRequest;
  readonly messages: ServeRequest[];
};

const echo = defineHandler({ type: "acme.echo@1", run: (input) => input });
const LIMIT = 1_000_000n;
const WELCOME = {
  ...{ hostId: "h", pingMs: 5_000n, silenceMs: 15_000n, resumeMs: 3_000n },
  limits: { outputBytes: LIMIT, messageBytes: LIMIT, failureBytes: LIMIT },
};

/** A host on this port that answers nothing by itself; 0 takes a free port. */
async function startHost(port = 0) {
  const opened: Opened[] = [];
  const server = await startGrpcServer({
    ...{ host: "127.0.0.1", port },
    services: [
      serve(HandlerService, {
        serve: async (stream: Stream) => {
          const messages: ServeRequest[] = [];
          let isFirst = true;
          stream.listen({
            message: (message) => {
              if (isFirst) opened.push({ stream, first: message, messages });
              isFirst = false;
              if (message.items.length > 0) messages.push(message);
            },
            end: () => stream.end(),
          });
          await stream.closed;
        },
        listSessions: async () => ({}),
      }),
    ],
    onInternal: ({ error }) => expect.fail(String(error)),
  });
  let taken = 0;
  const accept = async (): Promise<Opened> => {
    const next = await vi.waitUntil(() => opened[taken], { timeout: 10_000 });
    taken += 1;
    return next;
  };
  return { port: server.port, accept, stop: () => server.stop(0) };
}

test("a process shows its state: connecting, open, cut, open, draining, stopped", async () => {
  const before = await startHost();
  await before.stop();
  const lines: string[] = [];
  const address = `127.0.0.1:${before.port}`;
  const serving = startServing([echo], { address, log: (line) => lines.push(line) });
  onTestFinished(() => serving.stop());
  const shows = (status: string) =>
    vi.waitUntil(() => serving.status() === status, { timeout: 10_000 });
  await vi.waitUntil(() => lines.length > 0, { timeout: 10_000 });
  expect(serving.status()).toBe("connecting");

  const host = await startHost(before.port);
  onTestFinished(() => host.stop());
  const first = await host.accept();
  expect(first.first.opening.case).toBe("hello");
  expect(serving.status()).toBe("connecting");
  first.stream.write({ opening: { case: "welcome", value: WELCOME } });
  await shows("open");

  first.stream.fail(new EngineError("SCHEDULER_UNAVAILABLE", "cut"));
  await shows("cut");
  const second = await host.accept();
  expect(second.first.opening.case).toBe("resume");
  expect(serving.status()).toBe("cut");
  second.stream.write({ opening: { case: "welcome", value: { ...WELCOME, resumed: true } } });
  await shows("open");

  serving.stop();
  expect(serving.status()).toBe("draining");
  second.stream.end();
  await serving.done;
  expect(serving.status()).toBe("stopped");
});

test("a process whose host stops is draining, also after a cut of the stopping host", async () => {
  const host = await startHost();
  const serving = startServing([echo], { address: `127.0.0.1:${host.port}`, log: () => undefined });
  onTestFinished(async () => {
    serving.stop();
    await host.stop();
  });
  const { stream } = await host.accept();
  const drain = { item: { case: "drain" as const, value: {} } };
  stream.write({ opening: { case: "welcome", value: WELCOME }, firstSeq: 1n, items: [drain] });
  await vi.waitUntil(() => serving.status() === "draining");
  stream.fail(new EngineError("SCHEDULER_UNAVAILABLE", "cut"));
  const { stream: again, messages } = await host.accept();
  again.write({ opening: { case: "welcome", value: { ...WELCOME, resumed: true } }, heardSeq: 0n });
  const ping = { item: { case: "ping" as const, value: {} } };
  again.write({ firstSeq: 2n, items: [ping] });
  // The process has handled the Welcome before the Ping.
  await vi.waitUntil(() => messages.length > 0);
  expect(serving.status()).toBe("draining");
});

test("a result that was under way at a cut arrives again with its number", async () => {
  const host = await startHost();
  const serving = startServing([echo], { address: `127.0.0.1:${host.port}`, log: () => undefined });
  onTestFinished(async () => {
    serving.stop();
    await host.stop();
  });
  const { stream, messages } = await host.accept();
  const invoke = { invocationId: "i1", type: echo.type, inputJson: "7" };
  const item = { item: { case: "invoke" as const, value: invoke } };
  stream.write({ opening: { case: "welcome", value: WELCOME }, firstSeq: 1n, items: [item] });
  const result = await vi.waitUntil(() => messages[0]);
  // The host never confirms it.
  stream.fail(new EngineError("SCHEDULER_UNAVAILABLE", "cut"));
  const next = await host.accept();
  expect(next.first).toMatchObject({ opening: { case: "resume" }, heardSeq: 1n });
  next.stream.write({ opening: { case: "welcome", value: { ...WELCOME, resumed: true } } });
  const again = await vi.waitUntil(() => next.messages[0]);
  expect(again).toMatchObject({ firstSeq: 1n, items: result.items });
  expect(again.items[0]?.item).toMatchObject({ case: "result", value: { outputJson: "7" } });
});

test("of several hosts a process leaves one that does not answer, but waits for it while work is unfinished", async () => {
  const [one, other] = [await startHost(), await startHost()];
  const release = Promise.withResolvers<void>();
  const hold = defineHandler({
    type: "acme.hold@1",
    run: () => release.promise.then(() => "held"),
  });
  const address = ` 127.0.0.1:${one.port}, 127.0.0.1:${other.port}`;
  const serving = startServing([hold], { address, log: () => undefined });
  onTestFinished(async () => {
    serving.stop();
    await one.stop();
    await other.stop();
  });
  const { stream } = await one.accept();
  const item = { item: { case: "invoke" as const, value: { invocationId: "i", type: hold.type } } };
  stream.write({ opening: { case: "welcome", value: WELCOME }, firstSeq: 1n, items: [item] });
  await vi.waitUntil(() => serving.status() === "open");
  stream.fail(new EngineError("SCHEDULER_UNAVAILABLE", "cut"));
  const again = await one.accept();
  expect(again.first.opening.case).toBe("resume");
  again.stream.write({ opening: { case: "welcome", value: { ...WELCOME, resumed: true } } });
  release.resolve();
  await vi.waitUntil(() => again.messages.length > 0);
  const ping = { item: { case: "ping" as const, value: {} } };
  again.stream.write({ heardSeq: 1n, firstSeq: 2n, items: [ping] });
  await vi.waitUntil(() => again.messages.length > 1);
  again.stream.write({ heardSeq: 2n });
  again.stream.fail(new EngineError("SCHEDULER_UNAVAILABLE", "gone"));
  const elsewhere = await other.accept();
  expect(elsewhere.first.opening.case).toBe("resume");
  elsewhere.stream.write({ opening: { case: "lost", value: {} } });
  expect((await other.accept()).first.opening.case).toBe("hello");
});

test("a list without an address is refused", () => {
  expect(() => startServing([echo], { address: " , " })).toThrow("no address of an executor");
});

test("a schema that cannot be published is a line with the type and the reason", async () => {
  const host = await startHost();
  const dated = defineHandler({ type: "acme.dated@1", input: z.date(), run: () => null });
  const lines: string[] = [];
  const serving = startServing([echo, dated], {
    address: `127.0.0.1:${host.port}`,
    log: (line) => lines.push(line),
  });
  onTestFinished(async () => {
    serving.stop();
    await host.stop();
  });
  expect(lines).toEqual([
    expect.stringMatching(/^acme\.dated@1: the schema of the input is not published: /),
  ]);
});
