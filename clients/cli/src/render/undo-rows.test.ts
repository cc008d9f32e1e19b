import { create } from "@bufbuild/protobuf";
import { undoOf } from "@pawl/core/log/undo-iteration";
import { NodeStatus, RunSchema } from "@pawl/proto/pawl/v1/run_pb";
import { expect, test } from "vitest";
import { undoneText, undoRows } from "./undo-rows.ts";

const execution = (nodeId: string, undoes: number, status: NodeStatus, errorMessage = "") => ({
  ...{ nodeId, undoes, iteration: undoOf(undoes), status, attempt: 1, errorMessage },
});
const runOf = (compensation: object) => create(RunSchema, { compensation });

test("a run says what was undone, what is left and where to find it (S2.16)", () => {
  const executions = [
    execution("charge", 0, NodeStatus.COMPLETED),
    execution("reserve", 3, NodeStatus.FAILED, "503"),
    execution("note", 0, NodeStatus.PENDING),
  ];
  const run = runOf({ undone: 1, left: 1, open: 1, executions });
  expect(undoneText("pawl", run)).toBe(
    "1 undone, 1 to undo, 1 not undone, see `pawl dead-letter list`",
  );
  const rows = undoRows(run, 0).map((row) =>
    row.map((cell) => (typeof cell === "string" ? cell : cell.text)).join("|"),
  );
  expect(rows).toEqual(["undo charge|✔ completed|1||", "undo reserve#3|✖ failed|1||503"]);
});

test("a run that undoes nothing shows nothing, and ten thousand compensations a number (S2.16)", () => {
  const kept = runOf({ open: 1, executions: [execution("a", 0, NodeStatus.PENDING)] });
  expect([undoneText("pawl", kept), undoRows(kept, 0)]).toEqual(["", []]);
  expect(undoneText("pawl", create(RunSchema, {}))).toBe("");
  const executions = Array.from({ length: 60 }, (_, at) =>
    execution("m", at + 1, NodeStatus.COMPLETED),
  );
  const rows = undoRows(runOf({ undone: 60, executions }), 0);
  expect(rows).toHaveLength(51);
  expect(rows.at(-1)).toMatchObject([{ text: "… and 10 more" }]);
});
