import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import {
  NodeRunSchema,
  NodeStatus,
  type Run,
  RunSchema,
  RunStatus,
} from "@pawl/proto/pawl/v1/run_pb";
import { expect, test } from "vitest";
import { nodeRows } from "./node-rows.ts";
import type { Cell } from "./table.ts";

const OPTIONS = { definition: undefined, nowMs: 0, self: "pawl", isTty: false };
const runOf = (nodes: Run["nodes"], status: RunStatus = RunStatus.RUNNING): Run =>
  create(RunSchema, { runId: "r1", status, nodes });
const textOf = (cell: Cell | undefined): string | undefined =>
  typeof cell === "string" ? cell : cell?.text;
const textsOf = (rows: ReturnType<typeof nodeRows>): string[] =>
  rows.map((row) => row.map(textOf).join("|"));

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
  const rows = nodeRows(runOf([node, ...iterations]), OPTIONS);
  expect(rows.map(([first]) => textOf(first))).toEqual([
    "each",
    ...Array.from({ length: 9 }, (_, at) => `each#${at + 1}`),
    "each#151",
    "… and 190 more",
  ]);
  expect(textOf(rows[10]?.at(-1))).toBe(
    "decide with `pawl run decide r1 each approve --iteration 151`",
  );
});

test("a node that asks a person says by which approval it is answered", () => {
  const hold = { reason: "approval", approvalId: "a1" };
  const node = create(NodeRunSchema, { nodeId: "ask", status: NodeStatus.WAITING, hold });
  const [row] = nodeRows(runOf([node]), OPTIONS);
  expect(textOf(row?.at(-1))).toBe("decide with `pawl approval approve a1`");
});

test("a node that waits for a signal says by which command it is sent", () => {
  const signal = { name: "payment.7" };
  const node = create(NodeRunSchema, { nodeId: "paid", status: NodeStatus.WAITING, signal });
  const [row] = nodeRows(runOf([node]), OPTIONS);
  expect(textOf(row?.at(-1))).toBe("waits for `pawl run signal r1 payment.7`");
});

test("a delay waits with the time left until its end, and its duration is the time that it held back the next node", () => {
  const pause = create(NodeRunSchema, {
    nodeId: "pause",
    status: NodeStatus.COMPLETED,
    attempt: 1,
    startTime: timestampFromMs(1_000),
    endTime: timestampFromMs(1_001),
    releaseTime: timestampFromMs(6_001),
  });
  const after = (startMs: number) =>
    create(NodeRunSchema, {
      nodeId: "after",
      status: NodeStatus.RUNNING,
      startTime: timestampFromMs(startMs),
    });
  const row = (run: Run, nowMs: number) => textsOf(nodeRows(run, { ...OPTIONS, nowMs }))[0];
  expect(row(runOf([pause]), 2_201)).toBe("pause|◇ waiting|1|3.8s left|");
  expect(row(runOf([pause]), 6_001)).toBe("pause|✔ completed|1|5.0s|");
  // What follows has started, though the reader's clock is slow.
  expect(row(runOf([pause, after(6_002)]), 2_201)).toBe("pause|✔ completed|1|5.0s|");
  expect(row(runOf([pause], RunStatus.CANCELLED), 2_201)).toContain("✔ completed");
});

test("a wide fan is folded as in the live tree; a failed node keeps its row", () => {
  const ids = Array.from({ length: 20 }, (_, at) => `t${at}`);
  const definition = {
    nodes: ["start", ...ids, "end"].map((id) => ({ id, type: id.startsWith("t") ? "http" : id })),
    edges: ids.flatMap((id) => [
      { source: "start", target: id },
      { source: id, target: "end" },
    ]),
  };
  const nodes = definition.nodes.map(({ id }, at) =>
    create(NodeRunSchema, {
      nodeId: id,
      attempt: 1,
      status: id === "t7" ? NodeStatus.FAILED : NodeStatus.COMPLETED,
      errorMessage: id === "t7" ? "boom" : "",
      startTime: timestampFromMs(1_000),
      endTime: timestampFromMs(1_000 + at),
    }),
  );
  const rows = textsOf(nodeRows(runOf(nodes), { ...OPTIONS, definition }));
  expect(rows).toEqual([
    "start|✔ completed|1|0ms|",
    "19 × http|✔ completed|||1ms to 20ms, slowest t19",
    "t7|✖ failed|1|8ms|boom",
    "end|✔ completed|1|21ms|",
  ]);
});
