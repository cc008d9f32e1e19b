// UUIDv7: 48 bits of time, then randomness. Runs made later sort later, which is what keeps their rows together and lets
// retention drop whole ranges.

import { randomBytes } from "node:crypto";
import { type RunId, runId } from "@pawl/core/name/ids";

/** A fresh UUIDv7 in canonical form. */
export function uuidV7(now: number): string {
  const bytes = randomBytes(16);
  bytes.writeUIntBE(now, 0, 6);
  bytes.writeUInt8(0x70 | (bytes.readUInt8(6) & 0x0f), 6);
  bytes.writeUInt8(0x80 | (bytes.readUInt8(8) & 0x3f), 8);
  const hex = bytes.toString("hex");
  const parts = [
    hex.slice(0, 8),
    hex.slice(8, 12),
    hex.slice(12, 16),
    hex.slice(16, 20),
    hex.slice(20),
  ];
  return parts.join("-");
}

export const newRunId = (now: number): RunId => runId(uuidV7(now));
