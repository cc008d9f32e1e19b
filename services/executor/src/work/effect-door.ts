// The effect ledger for a running attempt: questions to the scheduler under the attempt's claim.

import type { EffectDoor } from "@pawl/core/handler/served";
import type { EffectStanding } from "@pawl/core/policy/effect";
import {
  EffectState,
  type EffectBegun,
  type EffectCommitted,
} from "@pawl/proto/pawl/worker/v1/worker_service_pb";
import type { Outbox } from "./outbox.ts";
import type { OutboxEntry } from "./outbox-entry.ts";

export const beginName = (name: string): string => `the beginning of ${name}`;
export const commitName = (name: string): string => `the result of ${name}`;
export const EXTEND = "more time";

/** The ledger access of one task. */
export function effectDoor(outbox: Outbox, entry: OutboxEntry): EffectDoor {
  const { writer } = entry;
  const begun = new Set<string>();
  return {
    begin: async (name, effectClass) => {
      // The scheduler would take a second beginning for a repeat of the first and answer it as new.
      if (begun.has(name)) throw new Error(`the effect ${name} was begun in this attempt before`);
      begun.add(name);
      const item = writer.beginEffect(name, effectClass);
      const answer = await outbox.ask<EffectBegun>(entry, beginName(name), item);
      return standingOf(answer);
    },
    commit: async (name, resultJson) => {
      const item = writer.commitEffect(name, resultJson);
      const { state } = await outbox.ask<EffectCommitted>(entry, commitName(name), item);
      if (state !== EffectState.COMMITTED)
        throw new Error(`the scheduler refused the result of the effect ${name}`);
    },
  };
}

function standingOf({ state, name, resultJson }: EffectBegun): EffectStanding {
  if (state === EffectState.NEW) return { state: "new" };
  if (state === EffectState.BEGUN_BEFORE) return { state: "begun_before" };
  if (state === EffectState.COMMITTED)
    return { state: "committed", resultJson: Buffer.from(resultJson).toString() };
  throw new Error(`the scheduler refused to begin the effect ${name}`);
}
