// Small conversions for the wire: times, JSON text as bytes, and the trace id of a traceparent.

import { create } from "@bufbuild/protobuf";
import { type Timestamp, TimestampSchema } from "@bufbuild/protobuf/wkt";

const NO_BYTES = new Uint8Array(0);
const encoder = new TextEncoder();
const TRACEPARENT = /^[0-9a-f]{2}-([0-9a-f]{32})-[0-9a-f]{16}-[0-9a-f]{2}$/;

/** Milliseconds since the epoch as a Timestamp. */
export function toTimestamp(ms: number): Timestamp {
  const seconds = Math.floor(ms / 1_000);
  const nanos = Math.floor(ms - seconds * 1_000) * 1_000_000;
  return create(TimestampSchema, { seconds: BigInt(seconds), nanos });
}

/** The same for a time that may be absent. */
export const toTimestampOrNone = (ms: number | null | undefined): Timestamp | undefined =>
  ms === null || ms === undefined ? undefined : toTimestamp(ms);

/** A Timestamp as milliseconds since the epoch. */
export const fromTimestamp = (time: Timestamp): number =>
  Number(time.seconds) * 1_000 + Math.floor(time.nanos / 1_000_000);

/** JSON text as the bytes of a `…_json` field. No bytes for an absent text. */
export const toJsonBytes = (text: string | null | undefined): Uint8Array =>
  text === undefined || text === null ? NO_BYTES : encoder.encode(text);

/** The text of a `…_json` field; absent for no bytes. */
export const fromJsonBytes = (bytes: Uint8Array): string | undefined =>
  bytes.length === 0
    ? undefined
    : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("utf8");

/** The 32 hex digits of a W3C traceparent. Empty if there is none or it is malformed. */
export const traceIdOf = (traceparent: string | null | undefined): string =>
  TRACEPARENT.exec(traceparent ?? "")?.[1] ?? "";

/** A uint64 on the wire. A handler may measure fractions of a millisecond. */
export const toWholeMs = (ms: number): bigint => BigInt(Math.max(0, Math.round(ms)));
