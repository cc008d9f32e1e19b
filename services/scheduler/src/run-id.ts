// UUIDv7: 48 bits of time, then random bits. Later runs sort later. So their rows lie together, and retention can drop whole ranges.

import { createHash, randomUUID } from "node:crypto";
import { type RunId, runId } from "@pawl/core/name/ids";

/** A fresh UUIDv7 in canonical form. Its random bits are those of a version 4, which Node makes many at once. */
export function uuidV7(now: number): string {
  const time = Math.trunc(now).toString(16).padStart(12, "0");
  return `${time.slice(0, 8)}-${time.slice(8)}-7${randomUUID().slice(15)}`;
}

/** The UUIDv8 of a text: always the same. */
export function uuidOfText(text: string): string {
  const hex = createHash("sha256").update(text).digest("hex");
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

export const newRunId = (now: number): RunId => runId(uuidV7(now));
