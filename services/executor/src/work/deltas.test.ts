import { LIMITS } from "@pawl/core/data/limits";
import { expect, onTestFinished, test } from "vitest";
import { defineHandler, type TaskContext } from "../handlers/handler.ts";
import { textStreamHandler } from "../handlers/text-stream.ts";
import { registryOf } from "../handlers/registry.ts";
import { attemptRunner } from "../run/attempt.ts";
import {
  SchedulerPeer,
  testAssignment,
  testClaim,
  type PeerConnection,
} from "./scheduler-peer.fixture.ts";
import { Worker } from "./worker.ts";

type Speak = (ctx: TaskContext) => Promise<void>;

async function setup(speak: Speak = async () => undefined) {
  const speaker = defineHandler({
    type: "speaker",
    run: async (_input, ctx) => {
      await speak(ctx);
      return "said";
    },
  });
  const registry = registryOf([speaker, textStreamHandler]);
  const peer = await SchedulerPeer.start();
  const worker = new Worker({
    executorId: "8f8d1b7e-7f0e-4a6e-9d2c-0123456789ab",
    nodeTypes: [...registry.keys()],
    capacity: 4,
    graceMs: 0,
    settleMs: 0,
    description: "test",
    connect: peer.connect,
    run: attemptRunner(registry),
  });
  onTestFinished(async () => {
    await worker.stop();
    await peer.close();
  });
  worker.start();
  const connection = await peer.connection();
  await connection.register();
  return { peer, worker, connection };
}

/** Everything streamed up to and with the outcome, as text. */
async function streamed(connection: PeerConnection): Promise<string[]> {
  await connection.heard("outcome");
  return connection.items.flatMap(({ case: name, value }) => {
    if (name === "delta") return [`${value.deltaIndex}:${value.media?.url ?? value.text}`];
    if (name === "log") {
      const cut = value.cutBytes === 0n ? "" : ` and ${value.cutBytes} bytes`;
      return [`log ${value.logIndex} ${value.level} ${value.message}${cut}`];
    }
    return name === "outcome" ? ["outcome"] : [];
  });
}

test("partial output arrives in order and before the outcome (S1.41, S1.42, S1.43)", async () => {
  const { connection } = await setup();
  const config = { text: "Hello, wörld 👋!", chunk_chars: 5, interval_ms: 1 };
  connection.send(testAssignment(testClaim(1n), { type: "text_stream", config }));
  const said = await streamed(connection);
  expect(said).toEqual(["0:Hello", "1:, wör", "2:ld 👋!", "outcome"]);
});

test("pieces of one turn share one delta, and logs keep their place", async () => {
  const { connection } = await setup(async (ctx) => {
    void ctx.emit("a");
    void ctx.emit("b");
    ctx.log("warn", "careful\u0000");
    await ctx.emit("c");
    ctx.log("info", "x".repeat(LIMITS.logMessageBytes * 2));
  });
  connection.send(testAssignment(testClaim(1n), { type: "speaker" }));
  const said = await streamed(connection);
  expect(said.slice(0, 3)).toEqual(["0:ab", "log 0 warn careful\ufffd", "1:c"]);
  expect(said[3]?.length).toBeLessThan(LIMITS.logMessageBytes);
  // The line reports how much was cut.
  const kept = said[3]?.match(/x/g)?.length ?? 0;
  expect(said[3]).toMatch(new RegExp(`x and ${LIMITS.logMessageBytes * 2 - kept} bytes$`));
  expect(said[4]).toBe("outcome");
});

test("media takes its place among the text (S1.42, S1.43)", async () => {
  const { connection } = await setup(async (ctx) => {
    void ctx.emit("a");
    void ctx.emitMedia({ url: "data:image/png;base64,AA==", mime: "image/png" });
    void ctx.emit("b");
    await ctx.emit("c");
  });
  connection.send(testAssignment(testClaim(1n), { type: "speaker" }));
  expect(await streamed(connection)).toEqual([
    "0:a",
    "1:data:image/png;base64,AA==",
    "2:bc",
    "outcome",
  ]);
});

test("unacknowledged output is sent again after a broken stream, in order, before the outcome", async () => {
  const broken = Promise.withResolvers<void>();
  const { peer, connection } = await setup(async (ctx) => {
    await ctx.emit("one");
    await broken.promise;
    await ctx.emit("two");
    await ctx.emit("three");
  });
  const claim = testClaim(1n);
  connection.send(testAssignment(claim, { type: "speaker" }));
  await connection.heard("delta");
  connection.cut();
  const second = await peer.connection();
  await second.heard("register");
  broken.resolve();
  second.registered();
  expect(await streamed(second)).toEqual(["0:one", "1:twothree", "outcome"]);
});

test("acknowledged output is not sent again", async () => {
  const { peer, connection } = await setup(async (ctx) => {
    await ctx.emit("one");
    ctx.log("info", "line");
  });
  const claim = testClaim(1n);
  connection.send(testAssignment(claim, { type: "speaker" }));
  await connection.heard("outcome");
  connection.send({ case: "streamed", value: { claim, deltaCount: 1, logCount: 1 } });
  // A second task ends only after the acknowledgement was read.
  connection.send(
    testAssignment(testClaim(2n, "m"), { type: "text_stream", config: { text: "" } }),
  );
  await connection.heard("outcome");
  connection.send({ case: "settled", value: { claim: testClaim(2n, "m") } });
  connection.send(testAssignment(testClaim(3n, "o"), { type: "nothing" }));
  await connection.heard("outcome");
  connection.cut();
  const second = await peer.connection();
  await second.register();
  await second.heard("outcome");
  await second.heard("outcome");
  expect(second.said).toEqual(["register", "outcome", "outcome"]);
});

test("a handler that sends too much output waits until it is acknowledged", async () => {
  const piece = "x".repeat(LIMITS.deltaBytes / 4);
  let pieces = 0;
  const { connection } = await setup(async (ctx) => {
    for (; pieces < 200; pieces++) await ctx.emit(piece);
  });
  const claim = testClaim(1n);
  connection.send(testAssignment(claim, { type: "speaker" }));
  let bytes = 0;
  while (bytes <= 1024 * 1024) bytes += (await connection.heard("delta")).text.length;
  expect(pieces).toBeLessThan(100);
  connection.onDelta((delta) =>
    connection.send({
      case: "streamed",
      value: { claim, deltaCount: delta.deltaIndex + 1, logCount: 0 },
    }),
  );
  connection.send({ case: "streamed", value: { claim, deltaCount: 1_000, logCount: 0 } });
  await connection.heard("outcome");
  expect(pieces).toBe(200);
});

test("a large text is cut into pieces that fit and are whole characters", async () => {
  const text = "👋".repeat(LIMITS.deltaBytes);
  const { connection } = await setup((ctx) => ctx.emit(text));
  const claim = testClaim(1n);
  connection.onDelta((delta) =>
    connection.send({
      case: "streamed",
      value: { claim, deltaCount: delta.deltaIndex + 1, logCount: 0 },
    }),
  );
  connection.send(testAssignment(claim, { type: "speaker" }));
  await connection.heard("outcome");
  const texts = connection.items.flatMap((item) =>
    item.case === "delta" ? [item.value.text] : [],
  );
  expect(texts.join("")).toBe(text);
  expect(texts.every((each) => Buffer.byteLength(each) <= LIMITS.deltaBytes)).toBe(true);
});
