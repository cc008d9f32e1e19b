// Writes the catalogue of node types.

import { lists, text } from "../../db/columns.ts";
import { queriesBeside, type Queryable, run, valuesOf } from "../../db/query.ts";
import { HISTORY, type NodeTypes, PUBLISHED } from "./node-types.ts";
import { findNodeTypes } from "./reads.ts";

const save = queriesBeside(import.meta.url)("save", lists({ ...PUBLISHED, ...HISTORY }), {
  nodeType: text(),
});

/** The catalogue over a pool. */
export const createNodeTypes = (db: Queryable): NodeTypes => ({
  find: (nodeTypes) => findNodeTypes(db, nodeTypes),
  save: async (entries) => {
    if (entries.length === 0) return new Set();
    const rows = await run(db, save, valuesOf(save, entries));
    return new Set(rows.map(({ nodeType }) => nodeType));
  },
});
