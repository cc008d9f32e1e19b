// Writes dead letters: the tick buries executions in its transaction; a redrive or a discard closes them.

import type { RunId } from "@pawl/core/name/ids";
import { list, number, orNull, text, uuid } from "../../db/columns.ts";
import { columns, queriesBeside, run, type Send } from "../../db/query.ts";
import type { Queryable } from "../../db/sql.ts";
import { readRunInput } from "../log/reads.ts";
import type { DeadLetters, NewDeadLetter } from "./dead-letters.ts";
import { deadLettersClosedBy, openDeadLetters } from "./reads.ts";

const declare = queriesBeside(import.meta.url);

const close = declare(
  "close",
  {
    tenantId: text(),
    ids: list(uuid()),
    redriveRunId: orNull(uuid<RunId>()),
    requestId: text(),
  },
  { dead_letter_id: uuid() },
);
const bury = declare("bury", {
  deadLetterId: list(uuid()),
  runId: list(uuid()),
  nodeId: list(text()),
  iteration: list(number()),
  attempt: list(number()),
  nodeType: list(text()),
  deliveries: list(number()),
  executorId: list(uuid()),
  reason: list(text()),
  errorMessage: list(text()),
});

/** Dead letters over a pool. */
export const createDeadLetters = (db: Queryable): DeadLetters => ({
  open: (tenantId, filter, limit) => openDeadLetters(db, tenantId, filter, limit),
  close: async (tenantId, ids, { requestId, redriveRunId }) => {
    const rows = await run(db, close, { tenantId, ids, redriveRunId, requestId });
    return rows.map((row) => row.dead_letter_id);
  },
  closedBy: (tenantId, requestId) => deadLettersClosedBy(db, tenantId, requestId),
  inputOf: (runId) => readRunInput(db, runId),
});

/** Keeps executions that the scheduler gives up, beside the node.failed of each. */
export async function buryDeadLetters(
  send: Send,
  letters: readonly NewDeadLetter[],
): Promise<void> {
  await send(bury, {
    ...columns(letters, ["deadLetterId", "runId", "nodeId", "iteration", "attempt"]),
    ...columns(letters, ["nodeType", "deliveries", "executorId", "reason", "errorMessage"]),
  });
}
