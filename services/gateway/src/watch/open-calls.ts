// Calls that have asked for a run and wait for its end. A run of instant nodes is over in the transaction that accepts it; PostgreSQL
// then says so sooner than the scheduler that sent it, and all there is to say (ADR 36).
//
// The races it survives: a call is named anew each time, so what is announced for a name is of the run this very call started, whatever
// request id it came with and however often the command was sent. An announcement may be lost, and most runs have none: the
// scheduler's answer comes all the same.

import { randomUUID } from "node:crypto";
import { ChurnMap } from "@pawl/core/data/churn-map";
import type { RunEvent } from "@pawl/core/log/event";
import type { AcceptedCall, End } from "@pawl/platform/wake/listen";

/** A run that was over as it was accepted. */
export interface OverAtOnce {
  readonly event: RunEvent;
  readonly accepted: AcceptedCall;
}

export interface OpenCall {
  readonly callId: string;
  /** Settles with the run if it was over at once and was announced, and never otherwise. */
  readonly overAtOnce: Promise<OverAtOnce>;
  /** Waits no longer. */
  readonly close: () => void;
}

export class OpenCalls {
  readonly #open = new ChurnMap<string, (run: OverAtOnce) => void>();

  open(): OpenCall {
    const callId = randomUUID();
    const { promise, resolve } = Promise.withResolvers<OverAtOnce>();
    this.#open.set(callId, resolve);
    return { callId, overAtOnce: promise, close: () => void this.#open.delete(callId) };
  }

  ended({ event, accepted }: End): void {
    if (accepted !== undefined) this.#open.get(accepted.callId)?.({ event, accepted });
  }
}
