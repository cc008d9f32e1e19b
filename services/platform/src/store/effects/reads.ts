// Reads the effect ledger.

import type { RunId } from "@pawl/core/name/ids";
import { number, orNull, text, time, uuid } from "../../db/columns.ts";
import { queriesBeside, run, type RowOf } from "../../db/query.ts";
import type { Queryable } from "../../db/sql.ts";
import { pageInOrder, type PageRequest } from "../page.ts";
import type { EffectPage, EffectRecord } from "./effects.ts";

/** A name of an effect has no line end, nor has a node's. */
const SEPARATOR = "\n";

const declare = queriesBeside(import.meta.url);

const page = declare(
  "page",
  {
    runId: uuid(),
    nodeId: text(),
    afterNode: text(),
    afterIteration: number(),
    afterName: text(),
    limit: number(),
  },
  {
    node_id: text(),
    iteration: number(),
    name: text(),
    class: text(),
    begun_epoch: number(),
    committed_epoch: orNull(number()),
    begun_at: time(),
    committed_at: orNull(time()),
    attempt: orNull(number()),
  },
);

/**
 * Effects by node, iteration and name; `nodeId` "" means of all nodes.
 * @throws INPUT_INVALID for a token of another list, STORE_UNAVAILABLE
 */
export async function listEffects(
  db: Queryable,
  runId: RunId,
  nodeId: string,
  asked: PageRequest,
): Promise<EffectPage> {
  const { rows, nextPageToken } = await pageInOrder<RowOf<typeof page>>(asked, {
    filter: `effects ${JSON.stringify([runId, nodeId])}`,
    keyOf: (row) => [row.node_id, row.iteration, row.name].join(SEPARATOR),
    read: (after, limit) => {
      const [afterNode = "", iteration = "0", afterName = ""] = after.split(SEPARATOR);
      const afterIteration = Number(iteration);
      return run(db, page, { runId, nodeId, afterNode, afterIteration, afterName, limit });
    },
  });
  return { effects: rows.map(toEffect), nextPageToken };
}

const toEffect = (row: RowOf<typeof page>): EffectRecord => ({
  nodeId: row.node_id,
  iteration: row.iteration,
  name: row.name,
  class: row.class,
  attempt: row.attempt ?? 0,
  begunEpoch: row.begun_epoch,
  committedEpoch: row.committed_epoch,
  begunAt: row.begun_at.getTime(),
  committedAt: row.committed_at?.getTime() ?? null,
});
