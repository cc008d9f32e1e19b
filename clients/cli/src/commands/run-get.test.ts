import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { jsonBytes } from "@pawl/client";
import { NodeStatus, RunStatus } from "@pawl/proto/pawl/v1/run_pb";
import { expect, test } from "vitest";
import { setup } from "./scripted-host.fixture.ts";

const RUN = "019a8b3e-1111-7000-8000-00008918bc96";
test("run get shows a delay as waiting with the time left, and folds a wide fan", async () => {
  const fan = Array.from({ length: 20 }, (_, at) => `shop${at}`);
  const definition = {
    nodes: [{ id: "pause", type: "delay" }, ...fan.map((id) => ({ id, type: "http" }))],
    edges: fan.map((id) => ({ source: "pause", target: id })),
  };
  // The clock of the scripted host shows 0.
  const pause = {
    nodeId: "pause",
    status: NodeStatus.COMPLETED,
    startTime: timestampFromMs(-2_000),
    endTime: timestampFromMs(-1_999),
    releaseTime: timestampFromMs(3_800),
  };
  const shops = fan.map((nodeId) => ({ nodeId, status: NodeStatus.QUEUED }));
  const { gateway, printed, pawl } = await setup({
    runs: {
      getRun: () => ({
        run: { runId: RUN, status: RunStatus.RUNNING, nodes: [pause, ...shops] },
        definitionJson: jsonBytes(definition),
      }),
    },
  });
  await using _ = gateway;
  expect(await pawl("run", "get", RUN)).toBe(0);
  const [, table = ""] = printed.out.split("\n\n");
  const lines = table.trimEnd().split("\n");
  expect(lines[1]).toMatch(/^pause +◇ waiting +3\.8s left/);
  expect(lines[2]).toMatch(/^20 × http +◌ queued/);
  expect(lines).toHaveLength(3);
});
