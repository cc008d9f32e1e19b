// The effects of one invocation: each item of the process becomes a question to the ledger, and the ledger's answer becomes an item.
// The race it survives: the attempt may end while a question waits. The answer is then REVOKED, so a function whose attempt is over makes
// no effect.

import type { MessageInitShape } from "@bufbuild/protobuf";
import { checkJson } from "@pawl/core/data/json";
import { EngineError } from "@pawl/core/fault/engine-error";
import type { EffectClass as Class } from "@pawl/core/policy/effect";
import type { EffectDoor } from "@pawl/core/handler/served";
import {
  EffectClass,
  EffectState,
  type EffectBegin,
  type EffectBegunSchema,
  type EffectCommit,
} from "@pawl/proto/pawl/handler/v1/handler_service_pb";

const CLASSES: Readonly<Record<EffectClass, Class | undefined>> = {
  [EffectClass.UNSPECIFIED]: undefined,
  [EffectClass.TRANSACTIONAL]: "transactional",
  [EffectClass.IDEMPOTENT]: "idempotent",
  [EffectClass.AT_MOST_ONCE]: "at_most_once",
};

const STATES = {
  new: EffectState.NEW,
  begun_before: EffectState.BEGUN_BEFORE,
  committed: EffectState.COMMITTED,
} as const;

type Begun = Pick<MessageInitShape<typeof EffectBegunSchema>, "state" | "resultJson">;

/** The answer to EffectBegin. `isOver` says whether the attempt has ended meanwhile. */
export async function begunBy(
  door: EffectDoor,
  { name, effectClass }: EffectBegin,
  isOver: () => boolean,
): Promise<Begun> {
  const known = CLASSES[effectClass];
  if (known === undefined) return { state: EffectState.REFUSED };
  try {
    const standing = await door.begin(name, known);
    if (isOver()) return { state: EffectState.REVOKED };
    const resultJson = standing.state === "committed" ? standing.resultJson : "";
    return { state: STATES[standing.state], resultJson };
  } catch (error) {
    return { state: refusalOf(error) };
  }
}

/** The answer to EffectCommit. */
export async function committedBy(
  door: EffectDoor,
  { name, resultJson }: EffectCommit,
): Promise<EffectState> {
  const text = resultJson === "" ? "null" : resultJson;
  if (!checkJson(text).ok) return EffectState.REFUSED;
  try {
    await door.commit(name, text);
    return EffectState.COMMITTED;
  } catch (error) {
    return refusalOf(error);
  }
}

const refusalOf = (error: unknown): EffectState =>
  error instanceof EngineError && error.reason === "STALE_CLAIM"
    ? EffectState.REVOKED
    : EffectState.REFUSED;
