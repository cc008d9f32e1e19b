// The read side of the effect ledger: what a run did to the outside world, as far as it was told.

import type { RunId } from "@pawl/core/name/ids";
import { type Queryable, run } from "../db/sql.ts";
import { fromPageToken, toPageToken } from "./page-token.ts";
import { readEffects } from "./statements/read-effects.ts";

/** An effect as its row says. Times are milliseconds since the epoch. */
export interface EffectRecord {
  readonly nodeId: string;
  readonly iteration: number;
  readonly name: string;
  readonly class: string;
  /** The attempt that began it; 0 when the log does not say. */
  readonly attempt: number;
  readonly begunEpoch: number;
  /** Null while its result is not known. */
  readonly committedEpoch: number | null;
  readonly begunAt: number;
  readonly committedAt: number | null;
}

export interface EffectPage {
  readonly effects: readonly EffectRecord[];
  /** Empty on the last page. */
  readonly nextPageToken: string;
}

interface EffectRow {
  readonly node_id: string;
  readonly iteration: number;
  readonly name: string;
  readonly class: string;
  readonly begun_epoch: number;
  readonly committed_epoch: number | null;
  readonly begun_at: Date;
  readonly committed_at: Date | null;
  readonly attempt: number | null;
}

/** A name of an effect has no line end, nor has a node's. */
const SEPARATOR = "\n";

/** Effects by node, iteration and name; `nodeId` "" means of all nodes. @throws INPUT_INVALID for a token of another list, STORE_UNAVAILABLE */
export async function listEffects(
  db: Queryable,
  runId: RunId,
  nodeId: string,
  page: { readonly size: number; readonly token: string },
): Promise<EffectPage> {
  const bound = `effects ${JSON.stringify([runId, nodeId])}`;
  const cursor = page.token === "" ? "" : fromPageToken(page.token, bound);
  const [afterNode = "", afterIteration = "0", afterName = ""] = cursor.split(SEPARATOR);
  const after = [afterNode, Number(afterIteration), afterName];
  const rows = await run<EffectRow>(db, readEffects, [runId, nodeId, ...after, page.size + 1]);
  const effects = rows.slice(0, page.size).map(toEffect);
  const last = effects.at(-1);
  const isLast = rows.length <= page.size || last === undefined;
  const next = isLast ? "" : [last.nodeId, last.iteration, last.name].join(SEPARATOR);
  return { effects, nextPageToken: isLast ? "" : toPageToken(next, bound) };
}

const toEffect = (row: EffectRow): EffectRecord => ({
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
