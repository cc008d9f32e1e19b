// Every item by which an executor may report on a claim. The suites test the fence of each item in this table. A kind of item that is
// missing here does not compile.
import type { MessageInitShape } from "@bufbuild/protobuf";
import {
  EffectClass,
  type Claim,
  type WorkerItem,
  type WorkerItemSchema,
} from "@pawl/proto/pawl/worker/v1/worker_service_pb";

type Item = NonNullable<MessageInitShape<typeof WorkerItemSchema>["item"]>;
/** Kinds of items that are about the session and not about a claim on a node. */
type SessionCase = "register" | "credit" | "goodbye" | "webhookResult" | undefined;
type DoorName = Exclude<WorkerItem["item"]["case"], SessionCase>;

/** The item of each kind about a claim. */
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
