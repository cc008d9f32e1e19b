// The parts of a filter, as a user wrote it. It is not yet compared with the fields that a list has (typed.ts).

export type Comparator = "=" | "!=" | "<" | "<=" | ">" | ">=" | ":";

/** The right side of a comparison. */
export interface Argument {
  /** The text without quotes, escapes and wildcards. */
  readonly text: string;
  readonly isQuoted: boolean;
  /** A wildcard begins or ends the text. A text of one wildcard only has both. */
  readonly opensStart: boolean;
  readonly opensEnd: boolean;
  /** Where the argument begins in the filter, from 0. */
  readonly at: number;
}

export interface Comparison {
  readonly kind: "compare";
  /** The name of a field, and the keys inside of it. */
  readonly path: readonly string[];
  readonly comparator: Comparator;
  readonly argument: Argument;
  /** Where the comparison begins in the filter, from 0. */
  readonly at: number;
}

export type Filter =
  | Comparison
  | { readonly kind: "and" | "or"; readonly parts: readonly Filter[] }
  | { readonly kind: "not"; readonly part: Filter };

/** What is wrong with a filter, and where. Lines and columns count from 1. */
export interface FilterFault {
  readonly line: number;
  readonly column: number;
  readonly message: string;
}

/** Ends the reading of a filter. The two entrances of this room turn it into a `FilterFault`. */
export class FilterError extends Error {
  readonly at: number;

  constructor(at: number, message: string) {
    super(message);
    this.at = at;
  }
}

/** Runs a step of reading, and gives a fault its place in the text. */
export function orFault<Made>(
  text: string,
  read: () => Made,
):
  | { readonly ok: true; readonly made: Made }
  | { readonly ok: false; readonly fault: FilterFault } {
  try {
    return { ok: true, made: read() };
  } catch (error) {
    if (!(error instanceof FilterError)) throw error;
    const before = text.slice(0, error.at).split("\n");
    const column = Array.from(before.at(-1) ?? "").length + 1;
    return { ok: false, fault: { line: before.length, column, message: error.message } };
  }
}
