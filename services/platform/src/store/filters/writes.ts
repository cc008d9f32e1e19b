// Keeps filters. Each command is one statement.

import { EngineError } from "@pawl/core/fault/engine-error";
import { text } from "../../db/columns.ts";
import { first, queriesBeside, type Queryable } from "../../db/query.ts";
import { RUN_FILTER, type RunFilters } from "./filters.ts";

const declare = queriesBeside(import.meta.url);

const KEY = { tenantId: text(), name: text() };
const save = declare("save", { ...KEY, filter: text() }, RUN_FILTER);
const remove = declare("remove", KEY, { name: text() });

/** Kept filters over a pool. */
export const createRunFilters = (db: Queryable): RunFilters => ({
  save: async (key, filter) => {
    const kept = await first(db, save, { ...key, filter });
    if (kept === undefined) throw new EngineError("INTERNAL", "The filter was not kept.");
    return kept;
  },
  remove: async (key) => (await first(db, remove, key)) !== undefined,
});
