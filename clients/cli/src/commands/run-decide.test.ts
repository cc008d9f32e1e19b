import { RunStatus } from "@pawl/proto/pawl/v1/run_pb";
import { Decision } from "@pawl/proto/pawl/v1/run_service_pb";
import { expect, test } from "vitest";
import { setup } from "./scripted-host.fixture.ts";

const RUN = "019a8b3e-1111-7000-8000-000000000001";
const ENDED = { runId: RUN, status: RunStatus.COMPLETED };

test("deciding says what was decided, and a word that is no decision is refused before anything is sent", async () => {
  const calls: unknown[] = [];
  const { gateway, printed, pawl } = await setup({
    runs: {
      decideNode(request) {
        calls.push({ node: request.nodeId, decision: request.decision, why: request.comment });
        return { run: ENDED };
      },
    },
  });
  await using _ = gateway;
  expect(await pawl("run", "decide", RUN, "ask", "approve", "--comment", "fine")).toBe(0);
  expect(calls).toEqual([{ node: "ask", decision: Decision.APPROVE, why: "fine" }]);
  expect(printed.out).toContain("ask approve; the run is completed");
  expect(await pawl("run", "decide", RUN, "ask", "maybe")).toBe(2);
  expect(calls).toHaveLength(1);
});
