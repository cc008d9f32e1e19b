// Words for times, durations, causes and limits. The functions are pure.

import { type Timestamp, timestampDate } from "@bufbuild/protobuf/wkt";
import { failureClassName } from "@pawl/client";
import type { RunView } from "@pawl/core/log/view";
import type { FailureClass } from "@pawl/proto/pawl/v1/run_pb";

/** A time of the wire in ISO 8601. Empty when there is none. */
export const isoText = (time: Timestamp | undefined): string =>
  time === undefined ? "" : timestampDate(time).toISOString();

/** 340ms, 2.4s, 3m05s, 2h10m, 4d. */
export function formatDuration(ms: number): string {
  if (ms < 1000) return `${Math.max(0, Math.round(ms))}ms`;
  const seconds = ms / 1000;
  if (seconds < 60) return `${seconds.toFixed(1)}s`;
  const minutes = Math.floor(seconds / 60);
  const two = (value: number) => String(Math.floor(value)).padStart(2, "0");
  if (minutes < 60) return `${minutes}m${two(seconds % 60)}s`;
  const hours = Math.floor(minutes / 60);
  return hours < 48 ? `${hours}h${two(minutes % 60)}m` : `${Math.floor(hours / 24)}d`;
}

const UNIT_MS: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};

/** Milliseconds of 500ms, 30s, 10m, 2h or 1d. Undefined for other text. */
export function parseDuration(text: string): number | undefined {
  const [, amount = "", unit = ""] = /^(\d+(?:\.\d+)?)(ms|s|m|h|d)$/.exec(text) ?? [];
  const unitMs = UNIT_MS[unit];
  return unitMs === undefined ? undefined : Math.round(Number(amount) * unitMs);
}

/** A cause and its message as one text. Many messages begin with their cause. */
export function causeText({ cause, message }: { cause: string; message: string }): string {
  if (cause === "" || message === "") return message || cause;
  return message.startsWith(cause) ? message : `${cause}: ${message}`;
}

/** A cause with its class: `rate_limit (retriable)`. Empty without a cause. */
export function classText(failure: {
  readonly cause: string;
  readonly failureClass: FailureClass;
}): string {
  const name = failureClassName(failure.failureClass);
  return failure.cause === "" || name === undefined ? failure.cause : `${failure.cause} (${name})`;
}

/** A message behind the class of its failure: `[retriable] the server answered 503`. */
export function failureText(failure: {
  readonly errorMessage: string;
  readonly failureClass: FailureClass;
}): string {
  const name = failureClassName(failure.failureClass);
  return name === undefined ? failure.errorMessage : `[${name}] ${failure.errorMessage}`.trimEnd();
}

/** The limits in words. Empty if there are none. */
export function limitText({ slot, rate }: RunView["limits"]): string {
  const parts = [
    ...(slot === undefined ? [] : [`slot ${slot.key} (${slot.limit})`]),
    ...(rate === undefined
      ? []
      : [`rate ${rate.key} (${rate.limit} in ${formatDuration(rate.perMs)})`]),
  ];
  return parts.length === 0 ? "" : `waits for ${parts.join(" and ")}`;
}
