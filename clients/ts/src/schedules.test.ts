import { createRouterTransport } from "@connectrpc/connect";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { MissedPolicy, OverlapPolicy } from "@pawl/proto/pawl/v1/schedule_pb";
import {
  type CreateScheduleRequest,
  type PreviewScheduleRequest,
  ScheduleService,
} from "@pawl/proto/pawl/v1/schedule_service_pb";
import { expect, test } from "vitest";
import { createPawlClient } from "./client.ts";

test("a schedule goes to the server with its policies by name and its input to the letter", async () => {
  const created: CreateScheduleRequest[] = [];
  const transport = createRouterTransport(({ service }) => {
    service(ScheduleService, {
      createSchedule: (request) => {
        created.push(request);
        return { schedule: { scheduleId: request.scheduleId } };
      },
    });
  });
  const pawl = createPawlClient({ transport });
  const inputJson = '{"n": 1.0}';
  const expression = "@daily";
  const plain = { workflowId: "w", expression };
  await pawl.schedules.create("a", { ...plain, inputJson, missed: "run_all", overlap: "skip" });
  await pawl.schedules.create("b", plain);
  expect(created[0]?.spec).toMatchObject({
    expression,
    missed: MissedPolicy.RUN_ALL,
    overlap: OverlapPolicy.SKIP,
  });
  expect(new TextDecoder().decode(created[0]?.spec?.inputJson)).toBe(inputJson);
  expect(created[1]?.spec).toMatchObject({
    missed: MissedPolicy.SKIP,
    overlap: OverlapPolicy.ALLOW,
  });
  expect(created[0]?.requestId).not.toBe(created[1]?.requestId);
});

test("the times of a preview are dates", async () => {
  const from = new Date("2026-01-01T00:00:00Z");
  const asked: PreviewScheduleRequest[] = [];
  const transport = createRouterTransport(({ service }) => {
    service(ScheduleService, {
      previewSchedule: (request) => {
        asked.push(request);
        return { times: [timestampFromDate(from)] };
      },
    });
  });
  const { schedules } = createPawlClient({ transport });
  expect(await schedules.preview({ expression: "@daily" }, { from, count: 1 })).toEqual([from]);
  expect(asked[0]).toMatchObject({ expression: "@daily", scheduleId: "", count: 1 });
});
