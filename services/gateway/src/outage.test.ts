import { connect } from "node:net";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { EventService } from "@pawl/proto/pawl/v1/event_service_pb";
import { expect, onTestFinished, test } from "vitest";
import { startPrivatePostgres } from "../../../test/support/postgres.ts";
import { until } from "../../../test/support/until.ts";
import { startGateway } from "./gateway.fixture.ts";

test("a watch lives through a crash of Postgres without gap or repeat (F5)", async () => {
  const postgres = await startPrivatePostgres();
  onTestFinished(() => postgres.stop());
  const gateway = await startGateway({}, {}, postgres.url);
  const run = await gateway.addRun();
  const events = createClient(EventService, createGrpcTransport({ baseUrl: gateway.url }));
  const seqs: number[] = [];
  const seen = new Map<number, () => void>();
  const reached = (seq: number): Promise<void> =>
    new Promise((resolve) => (seqs.includes(seq) ? resolve() : void seen.set(seq, resolve)));
  const watching = (async () => {
    for await (const message of events.watchRun({ runId: run })) {
      for (const { eventId } of message.events) {
        if (eventId > 0n) seqs.push(Number(eventId));
        seen.get(Number(eventId))?.();
      }
    }
  })();
  await reached(1);
  for (let crash = 0; crash < 2; crash += 1) {
    await postgres.crash();
    // The gateway asks the database for its readiness at most twice a second.
    const isAway = async () => (await fetch(`${gateway.url}/readyz`)).status === 503;
    await until(isAway, { what: "a gateway that is not ready" });
    await postgres.restart();
    await reached(await gateway.append(run, "node.queued"));
  }
  await gateway.append(run, "run.completed", {
    payload: { hasFailures: false },
    status: "completed",
  });
  await watching;
  expect(seqs).toEqual([1, 2, 3, 4]);
});

/** The memory in use after garbage collection. */
function heldBytes(): number {
  setFlagsFromString("--expose-gc");
  runInNewContext("gc")();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

test("a reader that stops reading does not grow the gateway (F12)", async () => {
  const gateway = await startGateway();
  const run = await gateway.addRun();
  const socket = connect(gateway.port, "127.0.0.1");
  onTestFinished(() => void socket.destroy());
  socket.write(`GET /execute/workflows/${run}/events HTTP/1.1\r\nHost: localhost\r\n\r\n`);
  await new Promise((resolve) => socket.once("data", resolve));
  socket.pause();
  const value = "x".repeat(200_000);
  const before = heldBytes();
  for (let n = 0; n < 300; n += 1) await gateway.append(run, "node.queued", { value });
  // 60 MB were committed. The gateway may hold one buffer of it and the buffer of the socket, once the current read is over.
  await expect
    .poll(() => heldBytes() - before, { timeout: 20_000, interval: 200 })
    .toBeLessThan(16 * 1024 * 1024);
});
