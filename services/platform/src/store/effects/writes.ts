// Writes the effect ledger, in the transaction of a tick that has locked the rows of the runs.

import { flag, lists, orNull, text } from "../../db/columns.ts";
import { queriesBeside, type Send, valuesOf } from "../../db/query.ts";
import { LEASE } from "../leases/leases.ts";
import {
  type Begun,
  type Committed,
  type EffectBegin,
  type EffectCommit,
  KEPT_EFFECTS,
  type KeptEffects,
} from "./effects.ts";

const declare = queriesBeside(import.meta.url);

const begin = declare("begin", lists({ ...LEASE, name: text(), class: text() }), {
  held: flag(),
  isNew: flag(),
  isCommitted: flag(),
  result: orNull(text()),
});
const commit = declare("commit", lists({ ...LEASE, name: text(), resultJson: text() }), {
  held: flag(),
  isBegun: flag(),
});

const copy = declare("copy", lists(KEPT_EFFECTS));

/** Copies effects of finished runs to the runs that repair them. */
export async function copyEffects(send: Send, kept: readonly KeptEffects[]): Promise<void> {
  await send(copy, valuesOf(copy, kept));
}

/** Records that effects begin, unless the ledger has them. */
export async function beginEffects(
  send: Send,
  begins: readonly EffectBegin[],
): Promise<readonly Begun[]> {
  const rows = await send(begin, valuesOf(begin, begins));
  return rows.map(({ held, isNew, isCommitted, result }) => {
    if (!held) return { state: "stale" };
    if (isCommitted) return { state: "committed", resultJson: result ?? "null" };
    return { state: isNew ? "new" : "begun_before" };
  });
}

/** Records results of effects. */
export async function commitEffects(
  send: Send,
  commits: readonly EffectCommit[],
): Promise<readonly Committed[]> {
  const rows = await send(commit, valuesOf(commit, commits));
  return rows.map(({ held, isBegun }) => {
    if (!held) return "stale";
    return isBegun ? "committed" : "not_begun";
  });
}
