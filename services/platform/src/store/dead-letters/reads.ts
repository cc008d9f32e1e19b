// Reads dead letters.

import { list, number, orNull, text, uuid } from "../../db/columns.ts";
import { queriesBeside, type Queryable, type RowOf, run } from "../../db/query.ts";
import { NEWEST_FIRST, type PageRequest, readPage } from "../page.ts";
import {
  DEAD_LETTER,
  type DeadLetterFilter,
  type DeadLetterPage,
  type DeadLetterState,
  OPEN,
  type OpenDeadLetter,
} from "./dead-letters.ts";

const declare = queriesBeside(import.meta.url);

const TENANT = { tenantId: text() };
const FILTER = {
  ...TENANT,
  ids: list(uuid()),
  workflowId: text(),
  nodeType: text(),
  beforeMs: orNull(number()),
  limit: number(),
};
const page = declare("page", { ...FILTER, states: list(text()), before: uuid() }, DEAD_LETTER);
const open = declare("open", FILTER, OPEN);
const countOpen = declare("count_open", TENANT, { nodeType: text(), count: number() });

const filterOf = ({ ids, workflowId, nodeType, beforeMs }: DeadLetterFilter) => ({
  ids,
  workflowId,
  nodeType,
  beforeMs: beforeMs ?? null,
});

/** Dead letters, newest first. @throws INPUT_INVALID for a token of another filter, STORE_UNAVAILABLE */
export async function listDeadLetters(
  db: Queryable,
  tenantId: string,
  filter: DeadLetterFilter & { readonly states: readonly DeadLetterState[] },
  asked: PageRequest,
): Promise<DeadLetterPage> {
  const states = [...new Set(filter.states)].toSorted();
  const values = { tenantId, states, ...filterOf(filter) };
  return await readPage(asked, {
    ...NEWEST_FIRST,
    filter: `dead-letters ${JSON.stringify(Object.values(values))}`,
    keyOf: (row) => row.deadLetterId,
    read: (before, limit) => run(db, page, { ...values, before, limit }),
  });
}

/** Open dead letters, oldest first. Those that a redrive cannot start again come last. @throws STORE_UNAVAILABLE */
export const openDeadLetters = (
  db: Queryable,
  tenantId: string,
  filter: DeadLetterFilter,
  limit: number,
): Promise<OpenDeadLetter[]> => run(db, open, { tenantId, ...filterOf(filter), limit });

/** Open dead letters by node type, up to a bound. @throws STORE_UNAVAILABLE */
export const countOpenDeadLetters = (
  db: Queryable,
  tenantId: string,
): Promise<RowOf<typeof countOpen>[]> => run(db, countOpen, { tenantId });
