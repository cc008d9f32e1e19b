import { createRouterTransport } from "@connectrpc/connect";
import { BulkAction, BulkService, BulkState } from "@pawl/proto/pawl/v1/bulk_service_pb";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { expect, test } from "vitest";
import { createPawlClient } from "./client.ts";

const ID = "019a8b3e-1111-7000-8000-000000000001";

test("a bulk is started with its options, shown before, followed to its end, continued and stopped", async () => {
  const asked: Record<string, unknown> = {};
  const states = [BulkState.CANARY, BulkState.RUNNING, BulkState.COMPLETED];
  const transport = createRouterTransport(({ service }) => {
    service(BulkService, {
      startBulk(request) {
        asked[request.dryRun ? "preview" : "start"] = request;
        return request.dryRun ? { preview: { matched: 3, applies: 2 } } : { bulk: { bulkId: ID } };
      },
      getBulk() {
        const state = states.shift() ?? BulkState.COMPLETED;
        const end = state === BulkState.COMPLETED ? { endTime: timestampFromMs(1) } : {};
        return { bulk: { bulkId: ID, state, ...end }, reasons: [{ reason: "ended", count: 1 }] };
      },
      listBulks: () => ({ bulks: [{ bulkId: ID }] }),
      listBulkRuns: () => ({ runs: [{ runId: "r" }], nextPageToken: "t" }),
      continueBulk: (request) => ({ bulk: { bulkId: request.bulkId, state: BulkState.RUNNING } }),
      stopBulk: ({ reason }) => ({ bulk: { bulkId: ID, stateReason: reason } }),
    });
  });
  const clock = { now: () => 0, random: () => 0, pause: () => Promise.resolve() };
  const { bulks } = createPawlClient({ transport, clock });
  const options = { filter: "status = failed", canaryRuns: 2, abortFailed: 0 };
  expect((await bulks.preview("retry", options)).applies).toBe(2);
  expect((await bulks.start("retry", { ...options, requestId: "one" })).bulkId).toBe(ID);
  const same = { filter: "status = failed", action: BulkAction.RETRY };
  expect(asked).toMatchObject({
    preview: { ...same, dryRun: true, requestId: "" },
    start: { ...same, requestId: "one", options: { canaryRuns: 2, abortFailed: 0 } },
  });
  const seen: BulkState[] = [];
  for await (const { state } of bulks.follow(ID)) seen.push(state);
  expect(seen).toEqual([BulkState.CANARY, BulkState.RUNNING, BulkState.COMPLETED]);
  expect((await bulks.get(ID)).reasons[0]?.reason).toBe("ended");
  expect((await bulks.list()).bulks).toHaveLength(1);
  expect((await bulks.runs(ID, { pageSize: 1 })).nextPageToken).toBe("t");
  expect((await bulks.continue(ID)).state).toBe(BulkState.RUNNING);
  expect((await bulks.stop(ID, { reason: "enough" })).stateReason).toBe("enough");
});
