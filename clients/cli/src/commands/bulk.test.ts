import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { BulkAction, BulkOutcome, BulkState } from "@pawl/proto/pawl/v1/bulk_service_pb";
import { expect, test } from "vitest";
import { setup } from "./scripted-host.fixture.ts";

const ID = "019a8b3e-1111-7000-8000-000000000001";
const END = { endTime: timestampFromMs(1), state: BulkState.COMPLETED };
const BULK = { bulkId: ID, action: BulkAction.RETRY, filter: "status = failed", matched: 4 };

test("a bulk is counted before, started, followed with a bar, and its exit code says whether runs failed", async () => {
  const asked: Record<string, unknown> = {};
  let failed = 0;
  const { gateway, printed, pawl } = await setup({
    bulks: {
      startBulk(request) {
        asked[request.dryRun ? "dry" : "start"] = request;
        const preview = { matched: 4, applies: 3, skipped: [{ reason: "live", count: 1 }] };
        return request.dryRun ? { preview } : { bulk: { ...BULK, state: BulkState.RUNNING } };
      },
      getBulk: () => ({
        bulk: { ...BULK, ...END, done: 3 - failed, failed, skipped: 1 },
        reasons: [{ outcome: BulkOutcome.SKIPPED, reason: "live", count: 1 }],
      }),
    },
  });
  await using _ = gateway;
  const filter = ["--filter", "status = failed"];
  expect(await pawl("bulk", "start", "retry", ...filter, "--dry-run")).toBe(0);
  expect(printed.out).toContain("retry applies to 3 of 4 runs");
  expect(printed.out).toContain("1 skipped: live");
  const flags = ["--canary", "2", "--abort-failed", "0", "--wait"];
  expect(await pawl("bulk", "start", "retry", ...filter, ...flags)).toBe(0);
  expect(asked["start"]).toMatchObject({
    ...{ action: BulkAction.RETRY, filter: "status = failed" },
    options: { canaryRuns: 2, abortFailed: 0 },
  });
  expect(printed.out).toContain("4/4  3 done, 0 failed, 1 skipped");
  expect(printed.out).toContain("1 skipped: live");
  failed = 1;
  expect(await pawl("bulk", "get", ID)).toBe(1);
  expect(await pawl("bulk", "start", "retry")).toBe(2);
  expect(printed.error).toContain("--filter FILTER");
  expect(await pawl("bulk", "start", "explode", ...filter)).toBe(2);
});

test("bulks and their runs are listed; a bulk that waits is continued or stopped", async () => {
  const { gateway, printed, pawl } = await setup({
    bulks: {
      listBulks: () => ({ bulks: [{ ...BULK, ...END, done: 4 }] }),
      listBulkRuns: ({ outcomes }) => ({
        runs: [{ runId: "r-1", outcome: outcomes[0] ?? BulkOutcome.DONE, reason: "why" }],
      }),
      getBulk: () => ({ bulk: { ...BULK, state: BulkState.WAITING } }),
      continueBulk: () => ({ bulk: { ...BULK, state: BulkState.RUNNING } }),
      stopBulk: ({ reason }) => ({
        bulk: { ...BULK, state: BulkState.STOPPED, stateReason: reason },
      }),
    },
  });
  await using _ = gateway;
  expect(await pawl("bulk", "list")).toBe(0);
  expect(printed.out).toMatch(/retry\s+completed\s+4\s+4/);
  expect(await pawl("bulk", "runs", ID, "--outcome", "failed")).toBe(0);
  expect(printed.out).toMatch(/r-1\s+failed\s+why/);
  expect(await pawl("bulk", "runs", ID, "--outcome", "lost")).toBe(2);
  expect(await pawl("bulk", "get", ID)).toBe(0);
  expect(printed.out).toContain(`pawl bulk continue ${ID}`);
  expect(await pawl("bulk", "continue", ID)).toBe(0);
  expect(await pawl("bulk", "stop", ID, "--reason", "enough")).toBe(0);
  expect(printed.out).toContain("stopped: enough");
});
