import { create } from "@bufbuild/protobuf";
import { RunEventSchema } from "@pawl/proto/pawl/v1/event_pb";
import {
  StreamMode,
  type WatchThreadRequest,
  WatchThreadResponseSchema,
} from "@pawl/proto/pawl/v1/event_service_pb";
import { expect, test } from "vitest";
import { setup } from "./scripted-host.fixture.ts";

test("thread watch prints each run under its id, items of modes, and one JSON object with the cursor for each event (S4.41)", async () => {
  const asked: WatchThreadRequest[] = [];
  const { gateway, printed, pawl } = await setup({
    events: {
      async *watchThread(request: WatchThreadRequest) {
        asked.push(request);
        const of = (runId: string, type: string) => ({
          runId,
          events: [create(RunEventSchema, { runId, eventId: 1n, type })],
          cursor: `${runId}.1`,
        });
        const item = { runId: "a", eventId: 1n, mode: StreamMode.UPDATES };
        const dataJson = Buffer.from('{"status":"running"}');
        if (request.modes.length > 0)
          yield create(WatchThreadResponseSchema, {
            ...{ runId: "a", items: [{ ...item, dataJson }], cursor: "a.1" },
          });
        else
          for (const message of [of("a", "run.completed"), of("b", "run.started")])
            yield create(WatchThreadResponseSchema, message);
      },
    },
  });
  await using _ = gateway;
  expect(await pawl("thread", "watch", "chat", "--until-idle", "--cursor", "x.1")).toBe(0);
  expect(printed.out).toMatch(/^run a\n.*#1 {2}run\.completed\nrun b\n.*#1 {2}run\.started\n$/);
  expect(asked[0]).toMatchObject({ threadId: "chat", cursor: "x.1", untilIdle: true });
  printed.out = "";
  const flags = ["--until-idle", "--skip-finished", "--node", "say"];
  expect(await pawl("thread", "watch", "chat", ...flags, "--mode", "updates")).toBe(0);
  expect(printed.out).toBe('run a\n#1  updates  {"status":"running"}\n');
  expect(asked[1]).toMatchObject({
    ...{ modes: [StreamMode.UPDATES], nodeIds: ["say"], skipFinished: true },
  });
  printed.out = "";
  expect(await pawl("thread", "watch", "chat", "--until-idle", "-o", "json")).toBe(0);
  const lines = printed.out.trimEnd().split("\n");
  expect(lines.map((line) => JSON.parse(line) as unknown)).toMatchObject([
    { cursor: "a.1", event: { runId: "a", eventId: 1, type: "run.completed" } },
    { cursor: "b.1", event: { runId: "b", eventId: 1, type: "run.started" } },
  ]);
});
