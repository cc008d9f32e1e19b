// Notifications about runs and threads. A notification names runs that have new events. It is a hint, and the gateway polls too, so a lost notification
// costs only latency. Hints sent while the gateway was not connected are lost, so the listener reports news of all runs each time it
// connects. An end is more than a hint: it is the terminal event itself, which only its commit sends.

import type { RunEvent } from "@pawl/core/log/event";
import { isUuid, type RunId, runId } from "@pawl/core/name/ids";
import { ENDS_CHANNEL, parseEnd } from "../ends/parse-end.ts";
import { ChannelListener } from "./channel.ts";

/**
 * The channel that a tick notifies. The payload is `<runId>:<lastSeq>,…` with a `!` after the seq of a run that ended, or `*` if the list
 * would be too long.
 */
const CHANNEL = "pawl_runs";

/** The channel that each change of a thread notifies. The payload is its id. */
const THREADS_CHANNEL = "pawl_threads";

interface WakeHandlers {
  /** The run's log reaches at least `lastSeq`. */
  readonly onRun: (runId: RunId, lastSeq: number, ended: boolean) => void;
  /** A run ended with this event. */
  readonly onEnd: (event: RunEvent) => void;
  /** A thread of this id changed, or was deleted. */
  readonly onThread: (threadId: string) => void;
  /** Any run and any thread may have news. */
  readonly onAll: () => void;
  /** Whether notifications arrive. Poll faster while they do not. */
  readonly onListening: (isListening: boolean) => void;
}

/** One run with new events, from a notification. */
interface Wake {
  readonly runId: RunId;
  readonly lastSeq: number;
  /** Whether the run ended. */
  readonly ended: boolean;
}

/** One run in a payload. */
export const wakeOf = ({ runId: id, lastSeq, ended }: Wake): string =>
  `${id}:${lastSeq}${ended ? "!" : ""}`;

/** Reads a payload. Undefined means that any run may have news, also for a payload that this build does not understand. */
export function parseWake(payload: string): readonly Wake[] | undefined {
  const wakes: Wake[] = [];
  for (const part of payload.split(",")) {
    const colon = part.indexOf(":");
    const id = part.slice(0, colon);
    const ended = part.endsWith("!");
    const lastSeq = Number(part.slice(colon + 1, ended ? -1 : undefined));
    if (colon < 0 || !isUuid(id) || !Number.isSafeInteger(lastSeq)) return undefined;
    wakes.push({ runId: runId(id), lastSeq, ended });
  }
  return wakes;
}

/** Listens for notifications about runs and threads until stopped. */
export class WakeListener extends ChannelListener {
  constructor(url: string, handlers: WakeHandlers) {
    super(url, [CHANNEL, ENDS_CHANNEL, THREADS_CHANNEL], {
      onPayload: (payload, channel) => {
        if (channel === ENDS_CHANNEL) {
          const event = parseEnd(payload);
          if (event !== undefined) handlers.onEnd(event);
          return;
        }
        if (channel === THREADS_CHANNEL) return handlers.onThread(payload);
        const wakes = parseWake(payload);
        if (wakes === undefined) handlers.onAll();
        else for (const wake of wakes) handlers.onRun(wake.runId, wake.lastSeq, wake.ended);
      },
      onListening: (isListening) => {
        handlers.onListening(isListening);
        if (isListening) handlers.onAll();
      },
    });
  }
}
