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

export type WorkerItemInit = MessageInitShape<typeof WorkerItemSchema>;
type Outcome = MessageInitShape<typeof OutcomeSchema>;
/** How an attempt ended, without its claim. */
export type OutcomeInit = Pick<Outcome, "result" | "durationMs" | "gates" | "usage">;

const CLASSES: Readonly<Record<EffectClass, WireClass>> = {
  transactional: WireClass.TRANSACTIONAL,
  idempotent: WireClass.IDEMPOTENT,
  at_most_once: WireClass.AT_MOST_ONCE,
};

/** A claim as one string, unique for every claim: a key for maps, and the name of a job in events. */
export const claimKey = ({ runId, nodeId, iteration, epoch }: Claim): string =>
  `${runId}/${nodeId}/${iteration}/${epoch}`;

export type FencedWriter = ReturnType<typeof fencedWriter>;

/** The writer of one claim. */
export function fencedWriter(claim: Claim) {
  const written = (item: NonNullable<WorkerItemInit["item"]>): WorkerItemInit => ({ item });
  return {
    claim,
    key: claimKey(claim),
    delta: (deltaIndex: number, text: string, media?: Media) =>
      written({ case: "delta", value: { claim, deltaIndex, text, ...(media && { media }) } }),
    log: (logIndex: number, level: string, message: string, cut: number) =>
      written({ case: "log", value: { claim, logIndex, level, message, cutBytes: BigInt(cut) } }),
    outcome: (outcome: OutcomeInit) => written({ case: "outcome", value: { ...outcome, claim } }),
    release: () => written({ case: "release", value: { claim } }),
    extend: (extendMs: number) =>
      written({ case: "extend", value: { claim, extendMs: BigInt(Math.ceil(extendMs)) } }),
    beginEffect: (name: string, effectClass: EffectClass) =>
      written({ case: "effectBegin", value: { claim, name, class: CLASSES[effectClass] } }),
    commitEffect: (name: string, resultJson: string) =>
      written({
        case: "effectCommit",
        value: { claim, name, resultJson: Buffer.from(resultJson) },
      }),
  };
}

/** The silence of the user's process behind a session. Both are 0 if it answers. */
export interface Silence {
  readonly silentMs: number;
  /** How much longer the executor waits before it gives the process up. */
  readonly giveUpMs: number;
}

/** The silence of a process that answers. */
export const ANSWERS: Silence = { silentMs: 0, giveUpMs: 0 };

/** The renewal of many claims: it names each of them, so the scheduler compares each of them. */
export const renewal = (
  held: readonly Claim[],
  { silentMs, giveUpMs }: Silence,
): WorkerItemInit => ({
  item: {
    case: "renew",
    value: {
      held: [...held],
      silentMs: BigInt(Math.round(silentMs)),
      giveUpMs: BigInt(Math.round(giveUpMs)),
    },
  },
});
