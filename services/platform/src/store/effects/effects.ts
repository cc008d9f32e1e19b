// The effect ledger: what a run did to the outside world, as far as its executors reported.

import type { EffectClass, EffectStanding } from "@pawl/core/policy/effect";
import type { ClaimKey } from "../leases/leases.ts";

/** An effect that an executor is about to make. Its key is (run, node, iteration, name), whatever the claim. */
export interface EffectBegin extends ClaimKey {
  readonly name: string;
  readonly class: EffectClass;
}

/** The result of an effect. The first one counts. */
export interface EffectCommit extends ClaimKey {
  readonly name: string;
  /** JSON text. */
  readonly resultJson: string;
}

/** What the store finds when an effect begins; `stale` where the claim is not the lease's. */
export type Begun = EffectStanding | { readonly state: "stale" };

/** What became of a result. */
export type Committed = "committed" | "not_begun" | "stale";

/** An effect as its row has it. Times are milliseconds since the epoch. */
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
