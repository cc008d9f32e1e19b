import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { EffectState } from "@pawl/proto/pawl/v1/effect_pb";
import type { ListEffectsRequest } from "@pawl/proto/pawl/v1/run_service_pb";
import { expect, test } from "vitest";
import { setup } from "./scripted-host.fixture.ts";

const RUN = "019a8b3e-1111-7000-8000-000000000001";
const EFFECT = {
  key: `${RUN}/charge/0`,
  nodeId: "charge",
  name: "request",
  effectClass: "at_most_once",
  state: EffectState.BEGUN,
  attempt: 2,
  beginEpoch: 7n,
  beginTime: timestampFromDate(new Date("2026-01-01T00:00:00Z")),
};

test("the effects of a run are listed with their state, as a table and as JSON", async () => {
  const asked: ListEffectsRequest[] = [];
  const { gateway, printed, pawl } = await setup({
    runs: {
      listEffects(request) {
        asked.push(request);
        if (request.nodeId === "nobody") return { effects: [] };
        return { effects: [EFFECT], nextPageToken: "next" };
      },
    },
  });
  await using _ = gateway;
  expect(await pawl("run", "effects", RUN, "--node", "charge", "--limit", "5")).toBe(0);
  expect(asked[0]).toMatchObject({ runId: RUN, nodeId: "charge", pageSize: 5 });
  expect(printed.out.split(/\s{2,}|\n/)).toEqual(
    expect.arrayContaining([
      "charge",
      "request",
      "begun, result unknown",
      "at_most_once",
      "2",
      "2026-01-01T00:00:00.000Z",
      `${RUN}/charge/0`,
    ]),
  );
  expect(printed.out).toContain(`More: pawl run effects ${RUN} --page-token next`);
  printed.out = "";
  expect(await pawl("run", "effects", RUN, "-o", "json")).toBe(0);
  expect(JSON.parse(printed.out)).toMatchObject({
    runId: RUN,
    effects: [{ nodeId: "charge", state: "begun", beginEpoch: 7, effectClass: "at_most_once" }],
    nextPageToken: "next",
  });
  printed.out = "";
  expect(await pawl("run", "effects", RUN, "--node", "nobody")).toBe(0);
  expect(printed.out).toBe("No effects.\n");
});
