// Kept filters in memory.

import { pairKey } from "../memory/staging.ts";
import type { Tables } from "../memory/store.ts";
import type { RunFilters } from "./filters.ts";

export const createMemoryRunFilters = (
  { filters }: Pick<Tables, "filters">,
  now: () => number,
): RunFilters => ({
  save: ({ tenantId, name }, filter) => {
    const key = pairKey(tenantId, name);
    const kept = {
      name,
      filter,
      createdAt: filters.get(key)?.createdAt ?? now(),
      updatedAt: now(),
    };
    filters.set(key, kept);
    return Promise.resolve(kept);
  },
  remove: ({ tenantId, name }) => Promise.resolve(filters.delete(pairKey(tenantId, name))),
});
