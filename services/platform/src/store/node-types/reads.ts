// Reads the catalogue of node types.

import type { KnownTypes } from "@pawl/core/definition/known-types";
import { schemasIn } from "@pawl/core/definition/known-types";
import { list, number, text } from "../../db/columns.ts";
import { first, queriesBeside, type Queryable, run } from "../../db/query.ts";
import { servedTypes } from "../leases/reads.ts";
import { type Page, type PageRequest, readPage } from "../page.ts";
import { NODE_TYPE, type NodeTypeRecord } from "./node-types.ts";

/** The most names that are compared with the types of a definition. The catalogue of one deployment is far smaller. */
const NAMES_MAX = 10_000;
/** The most entries that one definition is checked against. Further types count as not described. */
const CHECKED_MAX = 200;

const declare = queriesBeside(import.meta.url);

const find = declare("find", { nodeTypes: list(text()) }, NODE_TYPE);
const page = declare("page", { after: text(), limit: number() }, NODE_TYPE);
const names = declare("names", { limit: number() }, { nodeType: text() });

/** The entries of these types. @throws STORE_UNAVAILABLE */
export const findNodeTypes = (
  db: Queryable,
  nodeTypes: readonly string[],
): Promise<NodeTypeRecord[]> => run(db, find, { nodeTypes });

/** One entry. Undefined if no executor ever registered the type. @throws STORE_UNAVAILABLE */
export const getNodeType = (db: Queryable, nodeType: string): Promise<NodeTypeRecord | undefined> =>
  first(db, find, { nodeTypes: [nodeType] });

/**
 * The catalogue by name without schemas, with the entries of `others` among them.
 * @throws INPUT_INVALID for a token of another list, STORE_UNAVAILABLE
 */
export async function listNodeTypes<Other extends { readonly nodeType: string }>(
  db: Queryable,
  asked: PageRequest,
  others: readonly Other[],
): Promise<Page<NodeTypeRecord | Other>> {
  const own = new Set(others.map(({ nodeType }) => nodeType));
  return await readPage<NodeTypeRecord | Other>(asked, {
    filter: "node types",
    keyOf: (row) => row.nodeType,
    read: async (after, limit) => {
      const rows = await run(db, page, { after, limit: limit + own.size });
      return [
        ...rows.filter(({ nodeType }) => !own.has(nodeType)),
        ...others.filter(({ nodeType }) => nodeType > after),
      ]
        .toSorted((a, b) => (a.nodeType < b.nodeType ? -1 : 1))
        .slice(0, limit);
    },
  });
}

/** The names of all types, up to a bound. @throws STORE_UNAVAILABLE */
export async function readNodeTypeNames(db: Queryable): Promise<string[]> {
  return (await run(db, names, { limit: NAMES_MAX })).map(({ nodeType }) => nodeType);
}

/** The facts about types that the rules of a definition need: names, and the schemas of the types in its text. @throws STORE_UNAVAILABLE */
export async function readKnownTypes(db: Queryable, definitionText: string): Promise<KnownTypes> {
  const [served, known] = await Promise.all([servedTypes(db), readNodeTypeNames(db)]);
  const registered = new Set(known);
  const named = [...registered].filter((name) => definitionText.includes(name));
  const entries = named.length === 0 ? [] : await findNodeTypes(db, named.slice(0, CHECKED_MAX));
  const schemas = new Map(entries.map((entry) => [entry.nodeType, schemasIn(entry)]));
  return { served, registered, schemas };
}
