// A link over a stream that the test plays. It takes milliseconds.
import { promises, stat } from "node:fs";
import { create } from "@bufbuild/protobuf";
import { status as grpcStatus } from "@grpc/grpc-js";
import { defineHandler } from "@pawl/core/handler/define";
import { ServeResponseSchema } from "@pawl/proto/pawl/handler/v1/handler_service_pb";
import { expect, test } from "vitest";
import { Link } from "./link.ts";
import type { StreamListener } from "./stream.ts";

const SILENCE_MS = 20;
const LIMITS = { outputBytes: 1_000n, messageBytes: 1_000n, failureBytes: 1_000n };
const WELCOME = {
  case: "welcome" as const,
  value: { silenceMs: BigInt(SILENCE_MS), limits: LIMITS },
};
const echo = defineHandler({ type: "acme.echo@1", run: (input) => input });

/** A link whose streams the test feeds. */
function setup() {
  const opened: StreamListener[] = [];
  const lines: string[] = [];
  const open = (listener: StreamListener) => {
    opened.push(listener);
    return { write: () => true, close: () => undefined };
  };
  const link = new Link({
    ...{ hello: {}, handlers: [echo], slots: 1, newId: () => "s" },
    hosts: [{ address: "host", dialler: { open, close: () => undefined } }],
    log: (line) => lines.push(line),
  });
  const done = link.run();
  const say = (message: Parameters<typeof create<typeof ServeResponseSchema>>[1]) =>
    opened.at(-1)?.onMessage(create(ServeResponseSchema, message));
  return { link, opened, lines, done, say };
}

test("a process that blocked its event loop for longer than the silence keeps a stream on which messages wait", async () => {
  const { link, opened, lines, done, say } = setup();
  say({ opening: WELCOME });
  // The answer of the file system waits in the poll phase, as the message of a socket does.
  const read = new Promise((resolve) =>
    stat(".", () => {
      say({});
      resolve(undefined);
    }),
  );
  const until = performance.now() + 10 * SILENCE_MS;
  while (performance.now() < until);
  await read;
  await promises.stat(".");
  expect([link.status, opened.length, lines]).toEqual(["open", 1, []]);
  link.stop();
  opened[0]?.onEnd({ code: grpcStatus.OK, details: "" });
  await done;
});

test("a process without work that loses its session reports that nothing was under way", async () => {
  const { link, opened, lines, done, say } = setup();
  say({ opening: { case: "lost", value: {} } });
  await promises.stat(".");
  expect(lines).toEqual(["the host does not have the session any more; nothing was under way"]);
  expect(opened).toHaveLength(2);
  link.stop();
  await done;
});
