import { create } from "@bufbuild/protobuf";
import { Code } from "@connectrpc/connect";
import { createConnectTransport } from "@connectrpc/connect-node";
import { RunEventSchema } from "@pawl/proto/pawl/v1/event_pb";
import { type WatchRequest, WatchResponseSchema } from "@pawl/proto/pawl/v1/event_service_pb";
import { expect, test } from "vitest";
import { createPawlClient } from "./client.ts";
import { ScriptedGateway, scriptedFailure } from "./scripted-gateway.fixture.ts";

const news = (runId: string, done: boolean, ...types: readonly string[]) => {
  const events = types.map((type, index) =>
    create(RunEventSchema, { runId, type, eventId: BigInt(index + 1) }),
  );
  return create(WatchResponseSchema, { runId, events, done });
};

test("many runs over one connection continue with the last event of each run", async () => {
  const asked: [string, bigint][][] = [];
  const gateway = new ScriptedGateway({
    events: {
      async *watch({ runs }: WatchRequest) {
        asked.push(runs.map(({ runId, afterEventId }) => [runId, afterEventId]));
        if (asked.length === 1) {
          yield news("a", true, "run.started", "run.completed");
          yield news("b", false, "run.started");
          throw scriptedFailure(Code.Unavailable, "DRAINING", "stops");
        }
        yield create(WatchResponseSchema, { runId: "c", done: true, reason: "RUN_NOT_FOUND" });
        yield news("b", true, "run.started", "run.completed");
      },
    },
  });
  await using _ = gateway;
  const transport = createConnectTransport({ baseUrl: await gateway.start(), httpVersion: "1.1" });
  const clock = { now: () => 0, random: () => 0, pause: () => Promise.resolve() };
  const client = createPawlClient({ transport, clock });
  const seen: string[] = [];
  const lost: string[] = [];
  const runs = [{ runId: "a" }, { runId: "b" }, { runId: "c", afterEventId: 3 }];
  const onLost = (runId: string, reason: string) => void lost.push(`${runId} ${reason}`);
  for await (const { runId, eventId } of client.watchMany(runs, { onLost }))
    seen.push(`${runId}${eventId}`);
  expect(seen).toEqual(["a1", "a2", "b1", "b2"]);
  expect(lost).toEqual(["c RUN_NOT_FOUND"]);
  expect(asked).toEqual([
    [
      ["a", 0n],
      ["b", 0n],
      ["c", 3n],
    ],
    [
      ["b", 1n],
      ["c", 3n],
    ],
  ]);
});
