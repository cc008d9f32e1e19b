// Every door through which an executor may say something about a claim, as the item it would say. A door that is missing here is
// one whose fence nobody tests: the compiler asks for each kind of item there is.
import type { MessageInitShape } from "@bufbuild/protobuf";
import {
  EffectClass,
  type Claim,
  type WorkerItem,
  type WorkerItemSchema,
} from "@pawl/proto/pawl/worker/v1/worker_service_pb";

export type Item = NonNullable<MessageInitShape<typeof WorkerItemSchema>["item"]>;
/** Kinds of items that are about the session and not about a claim. */
type SessionCase = "register" | "credit" | "goodbye" | undefined;
export type DoorName = Exclude<WorkerItem["item"]["case"], SessionCase>;

/** What to say at each door about a claim. */
export const CLAIM_DOORS: Readonly<Record<DoorName, (claim: Claim) => Item>> = {
  outcome: (claim) => ({
    case: "outcome",
    value: {
      claim,
      durationMs: 1n,
      result: { case: "completed", value: { outputJson: Buffer.from('"stale"') } },
    },
  }),
  delta: (claim) => ({ case: "delta", value: { claim, deltaIndex: 0, text: "stale" } }),
  log: (claim) => ({ case: "log", value: { claim, logIndex: 0, level: "info", message: "stale" } }),
  renew: (claim) => ({ case: "renew", value: { held: [claim] } }),
  release: (claim) => ({ case: "release", value: { claim } }),
  effectBegin: (claim) => ({
    case: "effectBegin",
    value: { claim, name: "other", class: EffectClass.IDEMPOTENT },
  }),
  effectCommit: (claim) => ({
    case: "effectCommit",
    value: { claim, name: "charge", resultJson: Buffer.from('"stale"') },
  }),
  extend: (claim) => ({ case: "extend", value: { claim, extendMs: 60_000n } }),
};

export const DOOR_NAMES = Object.keys(CLAIM_DOORS) as DoorName[];
