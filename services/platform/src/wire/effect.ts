// An effect as clients see it.

import { create } from "@bufbuild/protobuf";
import type { RunId } from "@pawl/core/name/ids";
import { type Effect, EffectSchema, EffectState } from "@pawl/proto/pawl/v1/effect_pb";
import type { EffectRecord } from "../store/effects/effects.ts";
import { toTimestamp, toTimestampOrNone } from "./scalar.ts";

/** An effect on the wire. Its result stays in the ledger, because it may hold anything that the receiver sent. */
export function toWireEffect(runId: RunId, effect: EffectRecord): Effect {
  const { nodeId, iteration, committedEpoch, committedAt } = effect;
  return create(EffectSchema, {
    key: `${runId}/${nodeId}/${iteration}`,
    nodeId,
    iteration,
    name: effect.name,
    effectClass: effect.class,
    state: committedEpoch === null ? EffectState.BEGUN : EffectState.COMMITTED,
    attempt: effect.attempt,
    beginEpoch: BigInt(effect.begunEpoch),
    commitEpoch: BigInt(committedEpoch ?? 0),
    beginTime: toTimestamp(effect.begunAt),
    commitTime: toTimestampOrNone(committedAt),
  });
}
