// What executors say about their claims besides outcomes: partial output, effects, more time. Each names its claim, and the
// transaction that would use it compares epoch and executor with the lease under the run's lock: what is stale changes nothing.

import type { EffectClass, EffectStanding } from "@pawl/core/policy/effect";
import type { ClaimKey, Extension, LeaseKey } from "./leases/leases.ts";

/** A delta or log line; passed over when it is there already. */
export interface StreamedFact extends ClaimKey {
  readonly ordinal: number;
  readonly type: "node.stream.delta" | "node.log";
  readonly payload: object;
}

/** That an effect is about to be made. Its key is (run, node, iteration, name), whatever the claim. */
export interface EffectBegin extends ClaimKey {
  readonly name: string;
  readonly class: EffectClass;
}

/** That an effect was made. The first one counts. */
export interface EffectCommit extends ClaimKey {
  readonly name: string;
  /** JSON text. */
  readonly resultJson: string;
}

/** What beginning an effect finds; `stale` where the claim is not the lease's. */
export type Begun = EffectStanding | { readonly state: "stale" };

/** How committing an effect goes. */
export type Committed = "committed" | "not_begun" | "stale";

export interface FencedWrites {
  /** Locks run rows, in order of id: once for all that follows in this transaction. */
  lock(runIds: readonly LeaseKey["runId"][]): Promise<void>;
  /** Appends partial output without a new version. Call before `advance` for the same runs. Says of each whether its claim holds. */
  stream(facts: readonly StreamedFact[]): Promise<readonly boolean[]>;
  /** Records that effects are begun, unless they are on record. Call before `closeLeases`, as all of these. */
  beginEffects(begins: readonly EffectBegin[]): Promise<readonly Begun[]>;
  commitEffects(commits: readonly EffectCommit[]): Promise<readonly Committed[]>;
  /** Says of each whether its claim holds. */
  extendLeases(extensions: readonly Extension[]): Promise<readonly boolean[]>;
}
