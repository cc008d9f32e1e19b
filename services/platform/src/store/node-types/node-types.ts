// The catalogue: what handlers publish about their node types. Few rows, which change when a handler's schemas change.
//
// Two schedulers may save one type at once. Each names the revision that it replaces, so one of them writes nothing, reads the type again
// and decides again.

import { number, text, time } from "../../db/columns.ts";
import type { Typed } from "../../db/query.ts";

/** What a handler publishes. A schema is JSON text, empty if there is none. */
export const PUBLISHED = {
  nodeType: text(),
  description: text(),
  inputSchema: text(),
  outputSchema: text(),
  configSchema: text(),
};
/** What the scheduler knows of earlier entries. */
export const HISTORY = {
  /** Digests of the builds that this one may take the place of, with spaces between them; the oldest come first. */
  earlier: text(),
  /** Counts the changes, from 1. */
  revision: number(),
};
/** The columns of an entry. */
export const NODE_TYPE = {
  ...PUBLISHED,
  ...HISTORY,
  updatedAt: time(),
};

export type PublishedType = Typed<typeof PUBLISHED>;
export type NodeTypeRecord = Typed<typeof NODE_TYPE>;

/** An entry with the revision that it gets: 1 for a new one, else one more than that of the entry that it replaces. */
export type NewNodeType = PublishedType & Typed<typeof HISTORY>;

export interface NodeTypes {
  /** The entries of these types, as far as there are any. */
  find(nodeTypes: readonly string[]): Promise<readonly NodeTypeRecord[]>;
  /** Writes entries. Gives the types that were written: another scheduler was faster with the others. */
  save(entries: readonly NewNodeType[]): Promise<ReadonlySet<string>>;
}
