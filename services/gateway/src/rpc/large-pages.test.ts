// Pages of large rows over a real socket, to a client that accepts no message above the limit, the default of gRPC clients.

import { createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { LIMITS } from "@pawl/core/data/limits";
import { ApprovalService } from "@pawl/proto/pawl/v1/approval_service_pb";
import { EventService } from "@pawl/proto/pawl/v1/event_service_pb";
import { expect, test } from "vitest";
import { startGateway } from "../gateway.fixture.ts";

const transportOf = (url: string) =>
  createGrpcTransport({ baseUrl: url, readMaxBytes: LIMITS.messageBytes });

test("a log of large partial output is read in pages that each fit a message, and none of it is left out", async () => {
  const gateway = await startGateway();
  const runId = await gateway.addRun();
  const text = "x".repeat(LIMITS.deltaBytes);
  for (let deltaIndex = 0; deltaIndex < 100; deltaIndex += 1)
    await gateway.append(runId, "node.stream.delta", {
      nodeId: "a",
      payload: { deltaIndex, text },
    });
  const events = createClient(EventService, transportOf(gateway.url));
  const ids: number[] = [];
  for (let hasMore = true; hasMore;) {
    const afterEventId = BigInt(ids.at(-1) ?? 0);
    const page = await events.listEvents({ runId, afterEventId, pageSize: 1_000 });
    ids.push(...page.events.map(({ eventId }) => Number(eventId)));
    ({ hasMore } = page);
  }
  expect(ids).toEqual(Array.from({ length: 101 }, (_, index) => index + 1));
});

test("approvals with large details are listed in pages that each fit a message, and none of them is left out", async () => {
  const gateway = await startGateway();
  const runId = await gateway.addRun();
  await gateway.pool.query({
    text: `
insert into approvals (approval_id, tenant_id, run_id, workflow_id, node_id, iteration, reason, message, details, assignees, state, opened_at)
select gen_random_uuid(), 'default', $1, 'orders', 'a' || n, 0, 'approval', 'may it?', to_jsonb(repeat('x', 250000)), '{}', 'open', now()
from generate_series(1, 40) n`,
    values: [runId],
  });
  const approvals = createClient(ApprovalService, transportOf(gateway.url));
  const nodeIds = new Set<string>();
  let pageToken = "";
  do {
    const page = await approvals.listApprovals({ pageToken, pageSize: 200 });
    for (const { nodeId } of page.approvals) nodeIds.add(nodeId);
    pageToken = page.nextPageToken;
  } while (pageToken !== "");
  expect(nodeIds.size).toBe(40);
});
