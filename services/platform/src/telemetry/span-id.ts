// Ids of spans. The id of an attempt's span follows from its claim. So the span of a later attempt can link to it, although no event of
// the log has the id.

import { createHash } from "node:crypto";

interface ClaimName {
  readonly runId: string;
  readonly nodeId: string;
  readonly iteration: number;
  readonly epoch: number | bigint;
}

const SPAN_ID_LENGTH = 16;

/** The id of the span of the attempt under this claim. */
export const claimSpanId = ({ runId, nodeId, iteration, epoch }: ClaimName): string =>
  createHash("sha256")
    .update(`${runId}/${nodeId}/${iteration}/${epoch}`)
    .digest("hex")
    .slice(0, SPAN_ID_LENGTH);

/** A span id as the wire carries it. */
export const spanIdBits = (spanId: string): bigint => BigInt(`0x${spanId}`);

/** The span id that the wire carried. */
export const spanIdOf = (bits: bigint): string => bits.toString(16).padStart(SPAN_ID_LENGTH, "0");

let fixed: string | undefined;

/** Starts a span, which gets this id. The SDK asks for the id before `start` returns. */
export function withSpanId<Result>(spanId: string | undefined, start: () => Result): Result {
  fixed = spanId;
  try {
    return start();
  } finally {
    fixed = undefined;
  }
}

/** The id that the next span must have, if it must have one. */
export const fixedSpanId = (): string | undefined => fixed;
