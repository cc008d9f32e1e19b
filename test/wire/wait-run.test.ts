// The end of a run by one request and one answer, through every client and by plain JSON.
import { RunStatus } from "@pawl/proto/pawl/v1/run_pb";
import { expect, test } from "vitest";
import { until } from "../support/until.ts";
import { finishedRun, saveKnown } from "./known-workflow.ts";
import { expectRefused, invalidField } from "./refusal.ts";
import { useStage } from "./stage.ts";

const stage = useStage(undefined, saveKnown);

const HELD = JSON.stringify({
  nodes: [
    { id: "start", type: "start" },
    { id: "ask", type: "approval", config: { message: "Go on?" } },
  ],
  edges: [{ source: "start", target: "ask" }],
});
const MOMENT = { seconds: 0n, nanos: 50_000_000 };

test("every client is given a run when it ends, and as it is when its time is up", async () => {
  for (const { name, runs } of stage().doors) {
    const { run: started } = await runs.testRun({ definition: { text: HELD } });
    const runId = started?.runId ?? "";
    const early = await runs.waitRun({ runId, timeout: MOMENT });
    expect(early, name).toMatchObject({ hasEnded: false, run: { runId } });
    // Asked with less time than the wait may take: the answer still comes in time. The gateway keeps 250 ms for it, which a busy machine
    // may miss once.
    const impatient = await until(() => runs.waitRun({ runId }, { timeoutMs: 1_000 }), {
      what: "an answer in time",
    });
    expect(impatient.hasEnded, name).toBe(false);
    const waiting = runs.waitRun({ runId });
    await runs.cancelRun({ runId });
    const { hasEnded, run } = await waiting;
    expect({ hasEnded, status: run?.status }, name).toEqual({
      hasEnded: true,
      status: RunStatus.CANCELLED,
    });
    expect(run?.nodes.map(({ nodeId }) => nodeId)).toEqual(["start", "ask"]);
    expect(await runs.waitRun({ runId })).toMatchObject({ hasEnded: true });
  }
});

test("plain JSON in, the ended run out", async () => {
  const { runId } = await finishedRun(stage());
  const response = await fetch(`${stage().url}/pawl.v1.RunService/WaitRun`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ runId, timeout: "5s" }),
  });
  expect(await response.json()).toMatchObject({
    hasEnded: true,
    run: { runId, status: "RUN_STATUS_COMPLETED" },
  });
});

test("a wait of zero, of negative time or of too long is refused by every client", async () => {
  const { runId } = await finishedRun(stage());
  const refusal = invalidField("timeout", "OUT_OF_RANGE");
  for (const { name, runs } of stage().doors)
    for (const seconds of [0n, -1n, 21n])
      await expectRefused(runs.waitRun({ runId, timeout: { seconds } }), refusal, name);
});
