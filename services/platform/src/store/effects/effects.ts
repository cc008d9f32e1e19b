// The effect ledger: the effects of a run on the outside world, from the reports of its executors.

import type { EffectClass, EffectStanding } from "@pawl/core/policy/effect";
import type { RunId } from "@pawl/core/name/ids";
import { number, orNull, text, time, uuid } from "../../db/columns.ts";
import type { Typed } from "../../db/query.ts";
import type { ClaimKey } from "../leases/leases.ts";
import type { Page } from "../page.ts";

/** An effect that an executor is about to make. Its key is (run, node, iteration, name) and does not contain the claim. */
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

/** Effects of a node that a repaired run takes over: those of the iterations from `fromBase` on. */
export const KEPT_EFFECTS = {
  runId: uuid<RunId>(),
  fromRunId: uuid<RunId>(),
  nodeId: text(),
  fromBase: number(),
  toBase: number(),
};
export type KeptEffects = Typed<typeof KEPT_EFFECTS>;

/** How many effects of a class an execution made. `begun`: their results are not known. */
export const EFFECT_COUNT = {
  nodeId: text(),
  iteration: number(),
  class: text(),
  committed: number(),
  begun: number(),
};
export type EffectCount = Typed<typeof EFFECT_COUNT>;

/** The record of an effect that begins. `stale` if the claim is not that of the lease. */
export type Begun = EffectStanding | { readonly state: "stale" };

/** Whether a result was recorded. */
export type Committed = "committed" | "not_begun" | "stale";

/** The columns of an effect. */
export const EFFECT = {
  nodeId: text(),
  iteration: number(),
  name: text(),
  class: text(),
  /** The attempt that began the effect. 0 if the log does not have it. */
  attempt: number(),
  begunEpoch: number(),
  /** Null while the result is not known. */
  committedEpoch: orNull(number()),
  begunAt: time(),
  committedAt: orNull(time()),
};
export type EffectRecord = Typed<typeof EFFECT>;
export type EffectPage = Page<EffectRecord>;
