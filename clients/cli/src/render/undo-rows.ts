// The compensation of a run: what was undone, in one line, and a row for each execution that undoes another one.

import { nodeStatusName } from "@pawl/client";
import { executionName } from "@pawl/core/log/undo-iteration";
import { NodeStatus, type Run } from "@pawl/proto/pawl/v1/run_pb";
import { spanText } from "./node-rows.ts";
import { statusSpan } from "./spans.ts";
import type { Cell } from "./table.ts";

/** At most so many rows. The log has all. */
const ROWS_MAX = 50;

/** What was undone and what was not. Empty for a run that is not compensated. */
export function undoneText(self: string, { compensation }: Run): string {
  if (compensation === undefined || compensation.executions.every(isPending)) return "";
  const { undone, open, left } = compensation;
  const parts = [
    `${undone} undone`,
    ...(open > 0 ? [`${open} to undo`] : []),
    ...(left > 0 ? [`${left} not undone, see \`${self} dead-letter list\``] : []),
  ];
  return parts.join(", ");
}

const isPending = ({ status }: { readonly status: NodeStatus }): boolean =>
  status === NodeStatus.PENDING;

/** A row for each compensation that has begun, in the columns of the table of nodes. */
export function undoRows({ compensation }: Run, nowMs: number): Cell[][] {
  const begun = (compensation?.executions ?? []).filter((each) => !isPending(each));
  const rows = begun
    .slice(0, ROWS_MAX)
    .map((each): Cell[] => [
      executionName(each.nodeId, each.iteration),
      statusSpan(nodeStatusName(each.status)),
      each.attempt > 0 ? String(each.attempt) : "",
      spanText(each.startTime, each.endTime, nowMs),
      each.errorMessage,
    ]);
  const hidden = begun.length - rows.length;
  return hidden > 0 ? [...rows, [{ text: `… and ${hidden} more`, style: "dim" }]] : rows;
}
