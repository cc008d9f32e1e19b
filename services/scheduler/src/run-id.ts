// UUIDv7: 48 bits of time, then random bits. Later runs sort later. So their rows lie together, and retention can drop whole ranges.

import { randomBytes } from "node:crypto";
import { type RunId, runId } from "@pawl/core/name/ids";

/** A fresh UUIDv7 in canonical form. */
export function uuidV7(now: number): string {
  const bytes = randomBytes(16);
  bytes.writeUIntBE(now, 0, 6);
  bytes.writeUInt8(0x70 | (bytes.readUInt8(6) & 0x0f), 6);
  bytes.writeUInt8(0x80 | (bytes.readUInt8(8) & 0x3f), 8);
  const hex = bytes.toString("hex");
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
}

export const newRunId = (now: number): RunId => runId(uuidV7(now));
