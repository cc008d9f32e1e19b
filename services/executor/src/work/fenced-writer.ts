// Builds every message of an executor about a task from the task's claim, so that no message lacks the epoch. A tidy test checks that no
// other file builds such a message.

import type { MessageInitShape } from "@bufbuild/protobuf";
import type { Media } from "@pawl/core/log/event";
import type { EffectClass } from "@pawl/core/policy/effect";
import {
  EffectClass as WireClass,
  type Claim,
  type OutcomeSchema,
  type WorkerItemSchema,
} from "@pawl/proto/pawl/worker/v1/worker_service_pb";
import { claimKey } from "./claim-key.ts";

export type WorkerItemInit = MessageInitShape<typeof WorkerItemSchema>;
type Outcome = MessageInitShape<typeof OutcomeSchema>;
/** How an attempt ended, without its claim. */
export type OutcomeInit = Pick<Outcome, "result" | "durationMs" | "gates">;

const CLASSES: Readonly<Record<EffectClass, WireClass>> = {
  transactional: WireClass.TRANSACTIONAL,
  idempotent: WireClass.IDEMPOTENT,
  at_most_once: WireClass.AT_MOST_ONCE,
};

export interface FencedWriter {
  readonly claim: Claim;
  /** The claim as one string. */
  readonly key: string;
  delta(deltaIndex: number, text: string, media?: Media): WorkerItemInit;
  log(logIndex: number, level: string, message: string, cutBytes: number): WorkerItemInit;
  outcome(outcome: OutcomeInit): WorkerItemInit;
  release(): WorkerItemInit;
  extend(extendMs: number): WorkerItemInit;
  beginEffect(name: string, effectClass: EffectClass): WorkerItemInit;
  commitEffect(name: string, resultJson: string): WorkerItemInit;
}

/** The writer of one claim. */
export function fencedWriter(claim: Claim): FencedWriter {
  return {
    claim,
    key: claimKey(claim),
    delta: (deltaIndex, text, media) => {
      const value = { claim, deltaIndex, text, ...(media === undefined ? {} : { media }) };
      return { item: { case: "delta", value } };
    },
    log: (logIndex, level, message, cutBytes) => ({
      item: { case: "log", value: { claim, logIndex, level, message, cutBytes: BigInt(cutBytes) } },
    }),
    outcome: (outcome) => ({ item: { case: "outcome", value: { ...outcome, claim } } }),
    release: () => ({ item: { case: "release", value: { claim } } }),
    extend: (extendMs) => ({
      item: { case: "extend", value: { claim, extendMs: BigInt(Math.ceil(extendMs)) } },
    }),
    beginEffect: (name, effectClass) => ({
      item: { case: "effectBegin", value: { claim, name, class: CLASSES[effectClass] } },
    }),
    commitEffect: (name, resultJson) => ({
      item: { case: "effectCommit", value: { claim, name, resultJson: Buffer.from(resultJson) } },
    }),
  };
}

/** The renewal of many claims: it names each of them, so the scheduler compares each of them. */
export const renewal = (held: readonly Claim[]): WorkerItemInit => ({
  item: { case: "renew", value: { held: [...held] } },
});
