// The values that the check of types works with: the owner of a config or an input, what edges bring it, and one comparison.

import type { PathStep } from "../data/path.ts";
import type { Place, Schema } from "../schema/schema.ts";
import type { TypeOfPath } from "./authored-value.ts";
import type { Report } from "./violation.ts";

export type Raw = Readonly<Record<string, unknown>>;

/** Takes broken rules. */
export interface Reports {
  readonly error: Report;
  readonly warning: Report;
}

/** A node, or the body of a map or a loop. */
export interface Owner {
  readonly raw: Raw;
  readonly nodeId: string;
  readonly path: string;
  readonly typeOf: TypeOfPath;
  /** Misfits that are reported already. */
  readonly known?: Set<string>;
  /** The place of the literal item that the body is checked with. */
  readonly item?: string;
}

/** What a handler gets from outside of its node. */
export interface Inputs {
  readonly bound: ReadonlyMap<string, { readonly index: number; readonly place: Place }>;
  /** Whether the node has no parents. */
  readonly isRoot: boolean;
}

export interface IndexedEdge {
  readonly edge: Raw;
  readonly index: number;
}

export interface Value extends Pick<Owner, "nodeId" | "known" | "item"> {
  readonly source: Schema;
  readonly target: Schema;
  /** The place in the definition of a path into the value. */
  readonly at: (path: readonly PathStep[]) => string;
  /** Names the value, for people. */
  readonly what: string;
}
