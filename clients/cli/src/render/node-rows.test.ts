import { create } from "@bufbuild/protobuf";
import { NodeRunSchema, NodeStatus } from "@pawl/proto/pawl/v1/run_pb";
import { expect, test } from "vitest";
import { nodeRows } from "./node-rows.ts";

test("ten iterations of a wide map get a row, those that need a look first, and the rest is a number", () => {
  const iterations = Array.from({ length: 200 }, (_, at) =>
    create(NodeRunSchema, {
      nodeId: "each",
      iteration: at + 1,
      status: at === 150 ? NodeStatus.WAITING : NodeStatus.COMPLETED,
      ...(at === 150 ? { hold: { reason: "moderation_hold", phase: "output" } } : {}),
    }),
  );
  const node = create(NodeRunSchema, { nodeId: "each", status: NodeStatus.WAITING });
  const rows = nodeRows([node, ...iterations], {
    runId: "r1",
    nowMs: 0,
    self: "pawl",
    isTty: false,
  });
  expect(rows.map(([first]) => first?.text)).toEqual([
    "each",
    ...Array.from({ length: 9 }, (_, at) => `each#${at + 1}`),
    "each#151",
    "… and 190 more",
  ]);
  expect(rows[10]?.at(-1)?.text).toBe(
    "decide with `pawl run decide r1 each approve --iteration 151`",
  );
});

test("a node that asks a person says by which approval it is answered", () => {
  const hold = { reason: "approval", approvalId: "a1" };
  const node = create(NodeRunSchema, { nodeId: "ask", status: NodeStatus.WAITING, hold });
  const [row] = nodeRows([node], { runId: "r1", nowMs: 0, self: "pawl", isTty: false });
  expect(row?.at(-1)?.text).toBe("decide with `pawl approval approve a1`");
});
