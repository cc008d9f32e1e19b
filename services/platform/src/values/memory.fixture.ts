// The store of values in memory, for tests.

import { LIMITS } from "@pawl/core/data/limits";
import type { ValueRows } from "../store/values/values.ts";
import type { Blobs } from "./blobs.ts";
import { ValueStore } from "./value-store.ts";

/** A store of values over the rows of a memory store. */
export const memoryValues = (
  rows: ValueRows,
  inlineBytes: number = LIMITS.inputBytes,
): ValueStore => new ValueStore(rows, memoryBlobs(), inlineBytes);

/** A store that keeps the bytes in memory. */
export function memoryBlobs(): Blobs {
  const parts = new Map<string, Buffer>();
  return {
    write: async (generation, part, data) => void parts.set(`${generation}/${part}`, data),
    read: async (generation, part) => parts.get(`${generation}/${part}`),
    remove: async (generation, count) => {
      for (let part = 0; part < count; part += 1) parts.delete(`${generation}/${part}`);
    },
    check: async () => undefined,
  };
}
