// The effect ledger in memory. The caller compares claims with leases.

import type { EffectClass } from "@pawl/core/policy/effect";
import type { LeaseKey } from "../leases/leases.ts";
import { leaseKey } from "../leases/memory.ts";
import type { StagedRows } from "../memory/staging.ts";
import type { Tables } from "../memory/store.ts";
import type { Begun, Committed, EffectBegin, EffectCommit, KeptEffects } from "./effects.ts";

export interface EffectRow extends LeaseKey {
  readonly name: string;
  readonly class: EffectClass;
  readonly begunEpoch: number;
  readonly committedEpoch: number | null;
  /** JSON text; null while the effect is not committed. */
  readonly resultJson: string | null;
}

/** The primary key of an effect. */
const effectKey = (key: LeaseKey & { readonly name: string }): string =>
  `${leaseKey(key)}/${key.name}`;

/** The record of an effect that begins under a claim that holds. */
export function beginEffect(
  { effects }: StagedRows,
  { epoch, executorId: _executorId, ...begin }: EffectBegin,
): Begun {
  const key = effectKey(begin);
  const known = effects.get(key);
  if (known === undefined)
    effects.set(key, { ...begin, begunEpoch: epoch, committedEpoch: null, resultJson: null });
  if (known?.resultJson !== undefined && known.resultJson !== null)
    return { state: "committed", resultJson: known.resultJson };
  return { state: (known?.begunEpoch ?? epoch) === epoch ? "new" : "begun_before" };
}

/** Records a result under a claim that holds. */
export function commitEffect(
  { effects }: StagedRows,
  { epoch, resultJson, ...commit }: EffectCommit,
): Committed {
  const key = effectKey(commit);
  const known = effects.get(key);
  if (known === undefined) return "not_begun";
  if (known.committedEpoch === null)
    effects.set(key, { ...known, committedEpoch: epoch, resultJson });
  return "committed";
}

/** Copies effects of a finished run to the run that repairs it. */
export function copyOfEffects(
  { effects: committed }: Tables,
  { effects }: StagedRows,
  { runId, fromRunId, nodeId, fromBase, toBase }: KeptEffects,
): void {
  for (const effect of committed.values()) {
    if (effect.runId !== fromRunId || effect.nodeId !== nodeId) continue;
    if (effect.iteration < fromBase) continue;
    const committedEpoch = effect.committedEpoch === null ? null : 0;
    const iteration = effect.iteration - fromBase + toBase;
    const copy = { ...effect, runId, iteration, begunEpoch: 0, committedEpoch };
    effects.insert(effectKey(copy), copy, "effects_pkey");
  }
}
