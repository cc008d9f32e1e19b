// Writes the effect ledger, in the transaction of a tick that has locked the rows of the runs.

import { flag, list, number, orNull, text, uuid } from "../../db/columns.ts";
import { columns, queriesBeside, type RowOf, type Send } from "../../db/query.ts";
import { CLAIM_FIELDS } from "../leases/leases.ts";
import type { Begun, Committed, EffectBegin, EffectCommit } from "./effects.ts";

const declare = queriesBeside(import.meta.url);

const EFFECT = {
  runId: list(uuid()),
  nodeId: list(text()),
  iteration: list(number()),
  epoch: list(number()),
  executorId: list(uuid()),
  name: list(text()),
};
const begin = declare(
  "begin",
  { ...EFFECT, class: list(text()) },
  { held: flag(), is_new: flag(), is_committed: flag(), result: orNull(text()) },
);
const commit = declare(
  "commit",
  { ...EFFECT, result: list(text()) },
  { held: flag(), is_begun: flag() },
);

/** Records that effects begin, unless they are on record. */
export async function beginEffects(
  send: Send,
  begins: readonly EffectBegin[],
): Promise<readonly Begun[]> {
  const rows = await send(begin, columns(begins, [...CLAIM_FIELDS, "name", "class"]));
  return rows.map(begunOf);
}

function begunOf(row: RowOf<typeof begin>): Begun {
  if (!row.held) return { state: "stale" };
  if (row.is_committed) return { state: "committed", resultJson: row.result ?? "null" };
  return { state: row.is_new ? "new" : "begun_before" };
}

/** Records results of effects. */
export async function commitEffects(
  send: Send,
  commits: readonly EffectCommit[],
): Promise<readonly Committed[]> {
  const rows = await send(commit, {
    ...columns(commits, [...CLAIM_FIELDS, "name"]),
    result: commits.map(({ resultJson }) => resultJson),
  });
  return rows.map(({ held, is_begun: isBegun }) => {
    if (!held) return "stale";
    return isBegun ? "committed" : "not_begun";
  });
}
