import { Code } from "@connectrpc/connect";
import { scriptedFailure } from "@pawl/client/scripted-gateway";
import type { ExplainTaintRequest } from "@pawl/proto/pawl/v1/run_service_pb";
import { expect, test } from "vitest";
import { displayWidth } from "../render/spans.ts";
import { setup } from "./scripted-host.fixture.ts";

const RUN = "019a8b3e-1111-7000-8000-000000000001";
const TRACE = {
  labels: [
    { label: "web", nodeId: "fetch" },
    { label: "input", nodeId: "" },
  ],
  steps: [
    { eventId: 4n, type: "node.completed", nodeId: "fetch", labels: ["web"], added: ["web"] },
    {
      eventId: 9n,
      type: "node.completed",
      nodeId: "pay",
      labels: ["web", "input"],
      sources: [
        { from: "node", name: "fetch", eventId: 4n, labels: ["web"] },
        { from: "input", eventId: 1n, labels: ["input"] },
      ],
    },
    {
      eventId: 12n,
      type: "node.decided",
      nodeId: "pay",
      dropped: ["web"],
      reason: "I called the shop and they confirmed the number of their account to me",
    },
  ],
};

test("the way of labels is shown event by event within 80 columns, and as JSON (S2.42)", async () => {
  const asked: ExplainTaintRequest[] = [];
  const runs = {
    explainTaint(request: ExplainTaintRequest) {
      asked.push(request);
      return { trace: TRACE };
    },
  };
  const { gateway, printed, pawl } = await setup({ runs }, { columns: 80 });
  await using _ = gateway;
  expect(await pawl("run", "taint", RUN, "pay", "--iteration", "2")).toBe(0);
  expect(asked[0]).toMatchObject({ runId: RUN, nodeId: "pay", iteration: 2, memoryKey: "" });
  expect(printed.out.split("\n")).toEqual([
    "labels      web from fetch, input from the input",
    "#4          node.completed  fetch  + web",
    "#9          node.completed  pay  web, input",
    "            after node fetch (#4): web",
    "            after input (#1): input",
    "#12         node.decided  pay  - web",
    expect.stringMatching(/^ {12}reason: I called the shop/),
    expect.any(String),
    "",
  ]);
  for (const line of printed.out.split("\n")) expect(displayWidth(line)).toBeLessThanOrEqual(80);
  printed.out = "";
  expect(await pawl("run", "taint", RUN, "pay", "-o", "json")).toBe(0);
  expect(JSON.parse(printed.out)).toMatchObject({
    runId: RUN,
    labels: [{ label: "web", nodeId: "fetch" }, { label: "input" }],
    steps: [{ eventId: 4, added: ["web"] }, { eventId: 9 }, { eventId: 12, dropped: ["web"] }],
  });
});

test("a name that is no node is taken as a key of the memory, and --key asks for the key at once (S2.42)", async () => {
  const asked: string[] = [];
  const runs = {
    explainTaint({ nodeId, memoryKey }: ExplainTaintRequest) {
      asked.push(nodeId === "" ? `key ${memoryKey}` : `node ${nodeId}`);
      if (nodeId !== "") throw scriptedFailure(Code.NotFound, "NODE_NOT_FOUND", "no node note");
      return { trace: { labels: [], steps: [] } };
    },
  };
  const { gateway, printed, pawl } = await setup({ runs });
  await using _ = gateway;
  expect(await pawl("run", "taint", RUN, "note")).toBe(0);
  expect(await pawl("run", "taint", RUN, "note", "--key")).toBe(0);
  expect(asked).toEqual(["node note", "key note", "key note"]);
  expect(printed.out).toContain("note has no labels");
});
