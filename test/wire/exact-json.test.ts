// The users' JSON comes back byte for byte through every client, from the store or from memory: the order of keys, spaces, and the spelling
// of numbers.
import { ApprovalState } from "@pawl/proto/pawl/v1/approval_pb";
import { expect, test } from "vitest";
import { until } from "../support/until.ts";
import { drain } from "./known-workflow.ts";
import { useStage } from "./stage.ts";

const stage = useStage(undefined, async ({ door }) => {
  const { workflows } = door("grpc-js");
  const nodes = [
    { id: "start", type: "start" },
    { id: "ask", type: "approval", config: { message: "?" } },
    { id: "keys", type: "javascript", config: { code: "return Object.keys(ctx.input).join()" } },
  ];
  const edges = [
    { source: "start", target: "ask" },
    { source: "ask", target: "keys" },
  ];
  const text = JSON.stringify({ nodes, edges });
  await workflows.createWorkflow({ workflowId: "asking", definition: { text } });
});

const EXACT = '{ "z": 1,"a":2.50,"e":1e2, "n":-0.0,"big":1e300,"u":"\\u0041\\/é" , "l":[ 1.0 ]}';
const bytes = (text: string): Uint8Array => Buffer.from(text);
const textOf = (json: Uint8Array | undefined): string => Buffer.from(json ?? []).toString();

test("an input, a response and the values that a script reads are exactly as sent, also after a restart of the scheduler", async () => {
  const { runs, events, approvals } = stage().door("grpc-js");
  const { run } = await runs.startRun({ workflowId: "asking", inputJson: bytes(EXACT) });
  const runId = run?.runId ?? "";
  const asked = await until(async () => (await approvals.listApprovals({ runId })).approvals[0], {
    what: "the approval",
  });
  // Nothing of the run is in memory any more.
  for (const scheduler of stage().cluster.schedulers) {
    await scheduler.kill("SIGKILL");
    await scheduler.restart();
  }
  const { approvalId } = asked;
  await approvals.approveApproval({ approvalId, responseJson: bytes(EXACT) });
  await drain(events.watchRun({ runId }));
  for (const door of stage().doors) {
    const { run: whole } = await door.runs.getRun({ runId });
    expect(textOf(whole?.inputJson)).toBe(EXACT);
    const outputs = new Map(whole?.nodes.map((node) => [node.nodeId, textOf(node.outputJson)]));
    expect(outputs.get("ask")).toContain(`"response":${EXACT},`);
    expect(outputs.get("keys")).toBe('"z,a,e,n,big,u,l"');
    const { approval } = await door.approvals.getApproval({ approvalId });
    expect(approval?.state).toBe(ApprovalState.APPROVED);
    expect(textOf(approval?.responseJson)).toBe(EXACT);
    const listed = (await door.events.listEvents({ runId, pageSize: 1_000 })).events;
    const decided = listed.find(({ type }) => type === "node.decided")?.fact;
    expect(decided?.case === "nodeDecided" && textOf(decided.value.responseJson)).toBe(EXACT);
  }
  const sse = await (await fetch(`${stage().url}/execute/workflows/${runId}/events`)).text();
  expect(sse).toContain(`"input":${EXACT}`);
});

test("numbers in short do not come back so long that no message holds them", async () => {
  const { runs } = stage().door("gRPC");
  const text = `[${Array.from({ length: 35_000 }, () => "1e300").join(",")}]`;
  const { run } = await runs.startRun({ workflowId: "asking", inputJson: bytes(text) });
  const { run: whole } = await runs.getRun({ runId: run?.runId ?? "" });
  expect(textOf(whole?.inputJson)).toBe(text);
  await runs.cancelRun({ runId: run?.runId ?? "" });
});
