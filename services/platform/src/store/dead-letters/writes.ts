// Writes dead letters. The tick inserts them in its transaction, and a redrive or a discard closes them.

import { list, lists, text, uuid } from "../../db/columns.ts";
import { queriesBeside, type Queryable, run, type Send, valuesOf } from "../../db/query.ts";
import { readOrigin } from "../log/reads.ts";
import { CLOSED, type DeadLetters, NEW_DEAD_LETTER, type NewDeadLetter } from "./dead-letters.ts";
import { openDeadLetters } from "./reads.ts";

const declare = queriesBeside(import.meta.url);

const { deadLetterId, redriveRunId: asRun } = CLOSED;
const close = declare(
  "close",
  { tenantId: text(), ids: list(uuid()), redriveRunId: asRun, requestId: text() },
  { deadLetterId },
);
const ofRequest = declare("of_request", { tenantId: text(), requestId: text() }, CLOSED);
const bury = declare("bury", lists(NEW_DEAD_LETTER));

/** Dead letters over a pool. */
export const createDeadLetters = (db: Queryable): DeadLetters => ({
  open: (tenantId, filter, limit) => openDeadLetters(db, tenantId, filter, limit),
  close: async (tenantId, ids, { requestId, redriveRunId }) => {
    const rows = await run(db, close, { tenantId, ids, redriveRunId, requestId });
    return rows.map((row) => row.deadLetterId);
  },
  closedBy: (tenantId, requestId) => run(db, ofRequest, { tenantId, requestId }),
  originOf: (runId) => readOrigin(db, runId),
});

/** Inserts executions that the scheduler gives up, with the node.failed of each. */
export async function buryDeadLetters(
  send: Send,
  letters: readonly NewDeadLetter[],
): Promise<void> {
  await send(bury, valuesOf(bury, letters));
}
