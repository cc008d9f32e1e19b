// Reads kept filters.

import { number, text } from "../../db/columns.ts";
import { first, queriesBeside, type Queryable, run } from "../../db/query.ts";
import { type Page, type PageRequest, readPage } from "../page.ts";
import { type FilterKey, type KeptFilter, RUN_FILTER } from "./filters.ts";

const declare = queriesBeside(import.meta.url);

const TENANT = { tenantId: text() };
const find = declare("find", { ...TENANT, name: text() }, RUN_FILTER);
const page = declare("page", { ...TENANT, after: text(), limit: number() }, RUN_FILTER);

/** A filter by its name. @throws STORE_UNAVAILABLE */
export const getRunFilter = (db: Queryable, key: FilterKey): Promise<KeptFilter | undefined> =>
  first(db, find, key);

/** Filters by name. @throws INPUT_INVALID for a token of another list, STORE_UNAVAILABLE */
export const listRunFilters = (
  db: Queryable,
  tenantId: string,
  asked: PageRequest,
): Promise<Page<KeptFilter>> =>
  readPage(asked, {
    filter: `run filters ${tenantId}`,
    keyOf: ({ name }) => name,
    read: (after, limit) => run(db, page, { tenantId, after, limit }),
  });
