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
