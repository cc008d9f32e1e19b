// Filters of runs that people keep under a name.

import { text, time } from "../../db/columns.ts";
import type { Typed } from "../../db/query.ts";

/** The columns of a kept filter. */
export const RUN_FILTER = { name: text(), filter: text(), createdAt: time(), updatedAt: time() };
export type KeptFilter = Typed<typeof RUN_FILTER>;

/** The name of a filter of a tenant. */
export interface FilterKey {
  readonly tenantId: string;
  readonly name: string;
}

export interface RunFilters {
  /** Keeps a filter, in place of the one that has the name. */
  save(key: FilterKey, filter: string): Promise<KeptFilter>;
  /** Deletes a filter. False if there is none of that name. */
  remove(key: FilterKey): Promise<boolean>;
}
