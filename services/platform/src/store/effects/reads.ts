// Reads the effect ledger.

import type { RunId } from "@pawl/core/name/ids";
import { flag, number, orNull, text, uuid } from "../../db/columns.ts";
import { queriesBeside, type Queryable, run, type Typed } from "../../db/query.ts";
import { type PageRequest, readPage } from "../page.ts";
import { EFFECT, EFFECT_COUNT, type EffectCount, type EffectPage } from "./effects.ts";

/** Neither the name of an effect nor a node id contains a line break. */
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
  EFFECT,
);

const EFFECT_RESULT = {
  name: text(),
  class: text(),
  isCommitted: flag(),
  /** JSON text; null while the effect is not committed. */
  resultJson: orNull(text()),
};
export type EffectResult = Typed<typeof EFFECT_RESULT>;

const results = declare(
  "results",
  { runId: uuid(), nodeId: text(), iteration: number(), limit: number() },
  EFFECT_RESULT,
);

const count = declare("count", { runId: uuid() }, EFFECT_COUNT);

/** The effects of a run by execution and class. @throws STORE_UNAVAILABLE */
export const countEffects = (db: Queryable, runId: RunId): Promise<readonly EffectCount[]> =>
  run(db, count, { runId });

/** How many effects of one node execution are read. */
const RESULTS_MAX = 200;

/** The effects of one node execution with their results, by name. @throws STORE_UNAVAILABLE */
export const effectResults = (
  db: Queryable,
  execution: { readonly runId: RunId; readonly nodeId: string; readonly iteration: number },
): Promise<readonly EffectResult[]> => run(db, results, { ...execution, limit: RESULTS_MAX });

/**
 * Effects by node, iteration and name. `nodeId` "" means all nodes.
 * @throws INPUT_INVALID for a token of another list, STORE_UNAVAILABLE
 */
export async function listEffects(
  db: Queryable,
  runId: RunId,
  nodeId: string,
  asked: PageRequest,
): Promise<EffectPage> {
  return await readPage(asked, {
    filter: `effects ${JSON.stringify([runId, nodeId])}`,
    keyOf: (row) => [row.nodeId, row.iteration, row.name].join(SEPARATOR),
    read: (after, limit) => {
      const [afterNode = "", iteration = "0", afterName = ""] = after.split(SEPARATOR);
      const afterIteration = Number(iteration);
      return run(db, page, { runId, nodeId, afterNode, afterIteration, afterName, limit });
    },
  });
}
