import { createRouterTransport } from "@connectrpc/connect";
import {
  type ListDailyBudgetsRequest,
  WorkflowService,
} from "@pawl/proto/pawl/v1/workflow_service_pb";
import { expect, test } from "vitest";
import { dayMeters } from "./budget.ts";
import { createPawlClient } from "./client.ts";

test("daily budgets come by page, with what a day limits, and without a limit if it has none", async () => {
  const asked: ListDailyBudgetsRequest[] = [];
  const transport = createRouterTransport(({ service }) => {
    service(WorkflowService, {
      listDailyBudgets: (request) => {
        asked.push(request);
        const used = { tokens: 3n };
        const limited = { day: "2026-01-02", limit: { costMicros: 500n }, used };
        return { dailyBudgets: [limited, { day: "2026-01-01", used }], nextPageToken: "t" };
      },
    });
  });
  const { workflows } = createPawlClient({ transport });
  const page = await workflows.dailyBudgets({ workflowId: "w", pageSize: 2, pageToken: "s" });
  expect(asked).toMatchObject([{ workflowId: "w", pageSize: 2, pageToken: "s" }]);
  expect(page.nextPageToken).toBe("t");
  expect(page.dailyBudgets.map(dayMeters)).toEqual([
    [
      { meter: "tokens", words: "tokens", used: 3, reserved: 0, limit: undefined },
      { meter: "costMicros", words: "money", used: 0, reserved: 0, limit: 500 },
    ],
    [{ meter: "tokens", words: "tokens", used: 3, reserved: 0, limit: undefined }],
  ]);
});
