// The catalogue: the descriptions that handlers publish of their node types. It has few rows, which change when a handler's schemas change.
//
// Race: two schedulers save one type at once. Each names the revision that it replaces. So one of them writes nothing, reads the type again
// and decides again.

import { flag, number, text, time } from "../../db/columns.ts";
import type { Typed } from "../../db/query.ts";

/** The fields that a handler publishes. A schema is JSON text, empty if there is none. */
export const PUBLISHED = {
  nodeType: text(),
  description: text(),
  inputSchema: text(),
  outputSchema: text(),
  configSchema: text(),
  /** Its outputs are data from outside. */
  external: flag(),
};
/** The history of an entry. */
export const HISTORY = {
  /** Digests of the builds that this one may replace, with spaces between them. The oldest come first. */
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

/** An entry with its new revision: 1 for a new one, otherwise one more than the revision that it replaces. */
export type NewNodeType = PublishedType & Typed<typeof HISTORY>;

export interface NodeTypes {
  /** The entries of these types. Types without an entry are left out. */
  find(nodeTypes: readonly string[]): Promise<readonly NodeTypeRecord[]>;
  /** Writes entries. Returns the types that were written. Another scheduler was faster with the others. */
  save(entries: readonly NewNodeType[]): Promise<ReadonlySet<string>>;
}
