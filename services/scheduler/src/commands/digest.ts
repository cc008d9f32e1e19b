// Digests of definitions, and of requests, so that the scheduler can tell a repeated request id from a misused one.

import { createHash } from "node:crypto";

/** Lower-case hex sha256 of the parts, each with its length so that no two lists read the same. */
export function sha256(...parts: readonly string[]): string {
  const hash = createHash("sha256");
  if (parts.length === 1) return hash.update(parts[0] ?? "").digest("hex");
  for (const part of parts) hash.update(`${part.length}:${part}`);
  return hash.digest("hex");
}
