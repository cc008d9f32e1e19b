// Tags: one for every status transition of a run or a node, with the metadata of its type. No service stores tags. `ListTags` makes them
// from the events.

import type { LoggedFact } from "./event.ts";
import { rowOf, typesWhere } from "./event-table.ts";

interface ExecutionTag {
  readonly tag: string;
  readonly metadata: object;
}

/** The types that have a tag. */
export const TAGGED_TYPES = typesWhere(({ tag }) => tag !== undefined);

/** The types whose tag shows the user's JSON. */
export const TAGGED_BY_VALUE = typesWhere(({ isTaggedByValue }) => isTaggedByValue === true);

/** The tag of an event. Undefined for an event that changes no status, such as a stream delta or a log line. */
export function tagOf(event: LoggedFact): ExecutionTag | undefined {
  const row = rowOf(event.type);
  const metadata = row?.tag?.(event);
  if (metadata === undefined) return undefined;
  return { tag: row?.tagName ?? event.type.replaceAll(".", "_"), metadata };
}
