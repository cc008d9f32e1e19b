import { Code, ConnectError, createRouterTransport } from "@connectrpc/connect";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { QueueService, type RedriveDeadLettersRequest } from "@pawl/proto/pawl/v1/queue_service_pb";
import { expect, test } from "vitest";
import { createPawlClient } from "./client.ts";

test("a redrive goes to the server with its filter, and keeps its request id across retries", async () => {
  const before = new Date("2026-01-01T00:00:00Z");
  const asked: RedriveDeadLettersRequest[] = [];
  const transport = createRouterTransport(({ service }) => {
    service(QueueService, {
      redriveDeadLetters: (request) => {
        asked.push(request);
        if (asked.length < 2) throw new ConnectError("gone", Code.Unavailable);
        return { redriven: [{ deadLetterId: "d", runId: "r" }] };
      },
    });
  });
  const { deadLetters } = createPawlClient({ transport });
  const options = { workflowId: "w", nodeType: "http", before, limit: 7, maxPerSecond: 2 };
  const { redriven } = await deadLetters.redrive(options);
  expect(redriven).toMatchObject([{ deadLetterId: "d", runId: "r" }]);
  expect(asked[0]).toMatchObject({
    filter: { workflowId: "w", nodeType: "http", beforeTime: timestampFromDate(before) },
    limit: 7,
    maxPerSecond: 2,
  });
  expect(new Set(asked.map(({ requestId }) => requestId)).size).toBe(1);
  expect(asked).toHaveLength(2);
});

/** A server with dead letters that redrives a few a call, up to the limit of a request. */
function slowServer(letterCount: number, perCall: number) {
  const asked: string[] = [];
  const closed = new Map<string, string[]>();
  let next = 0;
  const transport = createRouterTransport(({ service }) => {
    service(QueueService, {
      redriveDeadLetters: ({ requestId, limit }) => {
        asked.push(requestId);
        const own = closed.get(requestId) ?? [];
        closed.set(requestId, own);
        const room = Math.min(perCall, limit - own.length, letterCount - next);
        for (let n = 0; n < room; n++) own.push(`d${next++}`);
        const redriven = own.map((deadLetterId) => ({ deadLetterId, runId: "r" }));
        return { redriven, remaining: Math.min(1_000, letterCount - next) };
      },
    });
  });
  return { asked, client: createPawlClient({ transport }) };
}

test("a redrive of many letters continues, call after call and request after request, until nothing is left", async () => {
  const { asked, client } = slowServer(2_100, 600);
  const letters: string[] = [];
  const counts: number[] = [];
  for await (const step of client.deadLetters.redriveAll({ requestId: "all" })) {
    letters.push(...step.redriven.map(({ deadLetterId }) => deadLetterId));
    counts.push(step.redrivenCount);
  }
  expect(letters).toEqual(Array.from({ length: 2_100 }, (_, index) => `d${index}`));
  expect(counts).toEqual([600, 1_000, 1_600, 2_000, 2_100]);
  expect(asked).toEqual(["all", "all", "all.2", "all.2", "all.3"]);
});

test("a redrive of so many ends with them, and begun again under its request id it doubles nothing", async () => {
  const { client } = slowServer(50, 3);
  const run = async (): Promise<string[]> => {
    const letters: string[] = [];
    const asked = { requestId: "seven", limit: 7 };
    for await (const { redriven } of client.deadLetters.redriveAll(asked))
      letters.push(...redriven.map(({ deadLetterId }) => deadLetterId));
    return letters;
  };
  const first = await run();
  expect(first).toEqual(["d0", "d1", "d2", "d3", "d4", "d5", "d6"]);
  expect(await run()).toEqual(first);
});
