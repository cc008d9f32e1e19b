// Writes about runs beside those of the tick's own statements (store/tick).

import type { RunId } from "@pawl/core/name/ids";
import { list, number, text, uuid } from "../../db/columns.ts";
import { columns, queriesBeside, run, type Send } from "../../db/query.ts";
import type { Queryable } from "../../db/sql.ts";
import type { InputKey, MovedDeadline, TestGraph } from "./runs.ts";

const declare = queriesBeside(import.meta.url);

const deadlines = declare("move_deadlines", {
  runId: list(uuid()),
  deadlineAt: list(number()),
});
const insertTestGraph = declare("insert_test_graph", {
  definitionId: uuid(),
  tenantId: text(),
  digest: text(),
  title: text(),
  nodeCount: number(),
  body: text(),
});
const dropKeys = declare("drop_input_keys", {});
const keepKeys = declare("keep_input_keys", {
  tenantId: list(text()),
  inputKey: list(text()),
  runId: list(uuid()),
  ttlMs: list(number()),
});
const deleteRun = declare("delete_test_run", { runId: uuid() }, { run_id: uuid() });

/** Keeps the graphs of test runs, in the transaction that starts the runs. */
export async function saveTestGraphs(send: Send, graphs: readonly TestGraph[]): Promise<void> {
  await Promise.all(graphs.map((graph) => send(insertTestGraph, graph)));
}

/** Remembers inputs as started. */
export async function keepInputKeys(send: Send, keys: readonly InputKey[]): Promise<void> {
  void send(dropKeys, {});
  await send(keepKeys, columns(keys, ["tenantId", "inputKey", "runId", "ttlMs"]));
}

/** Moves deadlines of runs whose rows the transaction has locked. */
export async function moveDeadlines(send: Send, moved: readonly MovedDeadline[]): Promise<void> {
  await send(deadlines, columns(moved, ["runId", "deadlineAt"]));
}

/** Deletes a finished test run with everything that belongs to it; false when it is not one. @throws STORE_UNAVAILABLE */
export async function deleteTestRun(db: Queryable, runId: RunId): Promise<boolean> {
  return (await run(db, deleteRun, { runId })).length > 0;
}
