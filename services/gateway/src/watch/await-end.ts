// Waits for the end of one run by a callback, for streams that wait for many runs. A reader for each run (`watch-run.ts`) would have a
// timer, a buffer and heartbeats.
//
// Races: the end is announced while the listener joins the tail, the drain begins, or the caller leaves. The first of them counts. Exactly
// one callback is called, or none after `leave`.

import type { EngineError } from "@pawl/core/fault/engine-error";
import { isTerminalType, type RunEvent } from "@pawl/core/log/event";
import type { Fanout, SeatRequest } from "./fanout.ts";
import type { Listener } from "./subscriber.ts";

interface EndCallbacks {
  /** The terminal event. */
  readonly onEnd: (event: RunEvent) => void;
  /** The wait ends without a terminal event: the gateway drains, or a user deleted the run. */
  readonly onLost: (reason: EngineError) => void;
}

/** Calls back once, perhaps before it returns. The returned function ends the wait. */
export function awaitEnd(
  fanout: Pick<Fanout, "attach">,
  request: Omit<SeatRequest, "isEndOnly">,
  { onEnd, onLost }: EndCallbacks,
): () => void {
  let isOver = false;
  let leavePlace: (() => void) | undefined;
  const leave = (): void => {
    isOver = true;
    leavePlace?.();
  };
  const listener: Listener = {
    isEndOnly: true,
    push: (events) => {
      const last = events.at(-1);
      if (isOver || last === undefined || !isTerminalType(last.event.type)) return true;
      leave();
      onEnd(last.event);
      return true;
    },
    finish: (reason) => {
      if (isOver) return;
      leave();
      onLost(reason);
    },
  };
  leavePlace = fanout.attach(listener, { ...request, isEndOnly: true }).leave;
  if (isOver) leavePlace();
  return leave;
}
