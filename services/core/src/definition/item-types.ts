// The types of `item` and `index` in the body of a map or a loop, if the definition shows them. Literal items give their own types. A list
// that a template names gives the type of its schema. A loop that counts gives numbers.

import { isRecord, type PathStep } from "../data/path.ts";
import { LOOP_ROOTS, NODE_ROOTS } from "../data/scope.ts";
import { placeAt, type Place, resolve, rootPlace, schemaOf, UNKNOWN } from "../schema/schema.ts";
import { authoredSchema, type TypeOfPath } from "./authored-value.ts";

type Raw = Readonly<Record<string, unknown>>;

/** An item, or what is known of all items. */
interface Item {
  readonly place: Place;
  /** Where the item is in the definition; undefined if a template or a count makes it. */
  readonly at: string | undefined;
}

const COUNT = rootPlace({ type: "integer", minimum: 0 });
/** Names that only a body has. */
const OWN: ReadonlySet<PathStep | undefined> = new Set([...LOOP_ROOTS].filter(isOfBody));

function isOfBody(root: string): boolean {
  return !NODE_ROOTS.has(root);
}

/** The body of a map or a loop; undefined for another node. */
export function bodyIn({ type, config }: Raw): Raw | undefined {
  if ((type !== "map" && type !== "loop") || !isRecord(config)) return undefined;
  return isRecord(config["body"]) ? config["body"] : undefined;
}

/** The items of a map or a loop; `path` names its config. */
export function itemsOf(config: Raw, path: string, typeOf: TypeOfPath): readonly Item[] {
  const { items } = config;
  if (items === undefined) return [{ place: COUNT, at: undefined }];
  if (Array.isArray(items))
    return items.map((item: unknown, index) => ({
      place: rootPlace(authoredSchema(item, typeOf)),
      at: `${path}.items[${index}]`,
    }));
  return [{ place: itemOf(resolve(listOf(items, typeOf))), at: undefined }];
}

/** The value of `items`. */
export const listOf = (items: unknown, typeOf: TypeOfPath): Place =>
  rootPlace(authoredSchema(items, typeOf));

function itemOf({ schema, root }: Place): Place {
  if (typeof schema === "boolean" || schema["type"] !== "array") return UNKNOWN;
  const { items, prefixItems } = schema;
  // The first items of such a list have types of their own.
  if (items === undefined || prefixItems !== undefined) return UNKNOWN;
  return { schema: schemaOf(items), root };
}

/** The path into what only a body has, `item` first; undefined for a path that any node may read. In a body, `ctx` has these names too. */
export function ownPath(path: readonly PathStep[]): readonly PathStep[] | undefined {
  const own = path[0] === "ctx" ? path.slice(1) : path;
  return OWN.has(own[0]) ? own : undefined;
}

/** The types of the names in a body, for one item. */
export function bodyTypes(item: Place, outer: TypeOfPath): TypeOfPath {
  return (path) => {
    const own = ownPath(path);
    if (own === undefined) return outer(path);
    if (own[0] === "index") return COUNT;
    const found = placeAt(own[0] === "item" ? item : UNKNOWN, own.slice(1));
    return found.found === "no" ? UNKNOWN : found.place;
  };
}
