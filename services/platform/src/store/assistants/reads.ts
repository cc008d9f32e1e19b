// Reads assistants.

import { number, text } from "../../db/columns.ts";
import { first, queriesBeside, type Queryable, run } from "../../db/query.ts";
import { type PageRequest, readPage } from "../page.ts";
import {
  ASSISTANT,
  ASSISTANT_KEY,
  type AssistantFilter,
  type AssistantKey,
  type AssistantPage,
  type AssistantRecord,
} from "./assistants.ts";

const declare = queriesBeside(import.meta.url);

const PAGE = { tenantId: text(), after: text(), limit: number(), workflowId: text() };
const one = declare("one", ASSISTANT_KEY, ASSISTANT);
const page = declare("page", PAGE, ASSISTANT);
const pageByMetadata = declare("page_by_metadata", { ...PAGE, metadata: text() }, ASSISTANT);

/** One assistant, or undefined. @throws STORE_UNAVAILABLE */
export const getAssistant = (
  db: Queryable,
  { tenantId, assistantId }: AssistantKey,
): Promise<AssistantRecord | undefined> => first(db, one, { tenantId, assistantId });

/** Assistants in order of id. @throws INPUT_INVALID for a token of another list, STORE_UNAVAILABLE */
export async function listAssistants(
  db: Queryable,
  tenantId: string,
  { metadata, workflowId }: AssistantFilter,
  asked: PageRequest,
): Promise<AssistantPage> {
  return await readPage(asked, {
    filter: `assistants ${JSON.stringify([tenantId, metadata, workflowId])}`,
    keyOf: (row) => row.assistantId,
    read: (after, limit) => {
      const values = { tenantId, after, limit, workflowId };
      return metadata === ""
        ? run(db, page, values)
        : run(db, pageByMetadata, { ...values, metadata });
    },
  });
}
