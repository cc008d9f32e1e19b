// The times and sizes of handler sessions. A process gets them in Welcome, so that it checks before it sends.

import { LIMITS } from "@pawl/core/data/limits";

const KIB = 1024;

/** The times of a session, in milliseconds. */
export interface HostTimes {
  /** How often the host sends Ping. */
  readonly pingMs: number;
  /** A process that sends nothing for this long is stalled. */
  readonly silenceMs: number;
  /** How long a session without a stream may be resumed. */
  readonly resumeMs: number;
  /** How long a silent process keeps its work, unless its handlers ask for another time. */
  readonly stallMs: number;
}

export const TIMES: HostTimes = {
  pingMs: 5_000,
  silenceMs: 15_000,
  resumeMs: 3_000,
  stallMs: 60_000,
};

/** The times for a host whose operator chose two of them. Three pings fit into the silence, so one late ping stalls no process. */
export const timesOf = (chosen: Pick<HostTimes, "silenceMs" | "resumeMs">): HostTimes => ({
  ...TIMES,
  ...chosen,
  pingMs: Math.floor(chosen.silenceMs / 3),
});

/** An empty message carries heard_seq at the latest after this time; the protocol allows 100 ms. */
export const ACK_MS = 50;

/** Sizes in bytes of UTF-8. */
export const HOST_LIMITS = {
  outputBytes: LIMITS.storedBytes,
  effectBytes: LIMITS.valueBytes,
  partialBytes: LIMITS.deltaBytes,
  windowBytes: 256 * KIB,
  logBytes: LIMITS.logMessageBytes,
  logLines: 1_000,
  messageBytes: LIMITS.handlerMessageBytes,
  failureBytes: 64 * KIB,
} as const;

/** The same for Welcome. */
export const WIRE_LIMITS = {
  outputBytes: BigInt(HOST_LIMITS.outputBytes),
  effectBytes: BigInt(HOST_LIMITS.effectBytes),
  partialBytes: BigInt(HOST_LIMITS.partialBytes),
  windowBytes: BigInt(HOST_LIMITS.windowBytes),
  logBytes: BigInt(HOST_LIMITS.logBytes),
  logLines: HOST_LIMITS.logLines,
  messageBytes: BigInt(HOST_LIMITS.messageBytes),
  failureBytes: BigInt(HOST_LIMITS.failureBytes),
};

/** Effects of one invocation that wait for the ledger at the same time. */
export const EFFECTS_OPEN_MAX = 1_000;
/** Sessions of one host: each has a stream to a scheduler. */
export const SESSIONS_MAX = 1_000;
export const SLOTS_MAX = 10_000;
