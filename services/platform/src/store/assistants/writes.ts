// Saves and deletes assistants, and names the assistants of new runs.

import type { RunId } from "@pawl/core/name/ids";
import { flag, lists, number, text, uuid } from "../../db/columns.ts";
import { isOvertaken } from "../../db/failure.ts";
import type { Pool } from "../../db/pool.ts";
import { first, queriesBeside, run, type Send, valuesOf } from "../../db/query.ts";
import type { Removal } from "../runs/runs.ts";
import { deleteRuns } from "../runs/writes.ts";
import {
  ASSISTANT,
  ASSISTANT_KEY,
  ASSISTANT_RUN,
  type AssistantKey,
  type AssistantRun,
  type Assistants,
  type AssistantSpec,
  SAVED_ASSISTANT,
} from "./assistants.ts";
import { getAssistant } from "./reads.ts";

const declare = queriesBeside(import.meta.url);

const RUN_ID = { runId: uuid<RunId>() };
const insert = declare("insert", SAVED_ASSISTANT, ASSISTANT);
const update = declare("update", { ...SAVED_ASSISTANT, expectedVersion: number() }, ASSISTANT);
const liveRuns = declare("live_runs", { ...ASSISTANT_KEY, limit: number() }, RUN_ID);
const lock = declare("lock", ASSISTANT_KEY, { assistantId: text() });
const mark = declare("mark", ASSISTANT_KEY);
const someRuns = declare("some_runs", { ...ASSISTANT_KEY, limit: number() }, RUN_ID);
const remove = declare("remove", ASSISTANT_KEY);
const marked = declare("marked", ASSISTANT_KEY, { isMarked: flag() });
const closed = declare("closed", { limit: number() }, ASSISTANT_KEY);
const nameRuns = declare("name_runs", lists(ASSISTANT_RUN), { held: flag() });

/** Live runs that one call reads, runs of one step of a removal, and closed assistants of one sweep. */
const LIVE_MAX = 1_000;
const REMOVED_MAX = 500;
const CLOSED_MAX = 500;

/** Names the assistants of runs that this transaction has inserted. @throws AssistantMoved if one of them is gone */
export async function nameAssistants(send: Send, runs: readonly AssistantRun[]): Promise<void> {
  await send(nameRuns, valuesOf(nameRuns, runs));
}

const rowOf = ({ tenantId, assistantId }: AssistantKey, spec: AssistantSpec) => {
  const { workflowId, workflowVersion, config, metadata, defaults } = spec;
  const written = { workflowId, workflowVersion, config, metadata };
  return { tenantId, assistantId, ...written, defaults: JSON.stringify(defaults) };
};

/** Assistants over a pool. */
export const createAssistants = (db: Pool): Assistants => ({
  create: async (key, spec) => {
    const made = await first(db, insert, rowOf(key, spec));
    if (made !== undefined) return { assistant: made, isNew: true };
    const assistant = await getAssistant(db, key);
    return assistant && { assistant, isNew: false };
  },
  find: (key) => getAssistant(db, key),
  update: (key, spec, expectedVersion) =>
    first(db, update, { ...rowOf(key, spec), expectedVersion }),
  liveRuns: async ({ tenantId, assistantId }) =>
    (await run(db, liveRuns, { tenantId, assistantId, limit: LIVE_MAX })).map(({ runId }) => runId),
  close: ({ tenantId, assistantId }) =>
    db.transaction(async (tx) => {
      const key = { tenantId, assistantId };
      if ((await first(tx, lock, key)) === undefined) return "missing";
      if ((await run(tx, liveRuns, { ...key, limit: 1 })).length > 0) return "busy";
      await run(tx, mark, key);
      return "closed";
    }, isOvertaken),
  removeSome: (key) => removeSome(db, key),
  closed: () => run(db, closed, { limit: CLOSED_MAX }),
});

async function removeSome(db: Pool, { tenantId, assistantId }: AssistantKey): Promise<Removal> {
  const key = { tenantId, assistantId };
  const found = await run(db, someRuns, { ...key, limit: REMOVED_MAX });
  const runIds = found.map(({ runId }) => runId);
  const gone = runIds.length === 0 ? 0 : await deleteRuns(db, runIds);
  await run(db, remove, key);
  if ((await first(db, marked, key))?.isMarked !== true) return "removed";
  return gone > 0 ? "more" : "waits";
}
