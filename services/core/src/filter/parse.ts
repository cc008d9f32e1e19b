// Reads a filter, in the language of AIP-160. OR binds closer than AND, as that language says. Terms without an operator between them are
// joined by AND.
//
//   filter = term { [AND] term }      term = factor { OR factor }      factor = [NOT | -] ( "(" filter ")" | field comparator value )

import { LIMITS } from "../data/limits.ts";
import { JSON_FAULTS } from "../data/scan-json.ts";
import { type Filter, FilterError, orFault } from "./ast.ts";
import { Scanner } from "./scan.ts";

/** Reads a filter that is not empty. */
export const parseFilter = (text: string) =>
  orFault(text, () => {
    if (text.length > LIMITS.filterLength)
      throw new FilterError(0, `the filter has more than ${LIMITS.filterLength} characters`);
    const nul = text.indexOf("\0");
    if (nul >= 0) throw new FilterError(nul, JSON_FAULTS.NUL_CHARACTER);
    const parser = new Parser(text);
    const filter = parser.all(0);
    if (!parser.scan.isAtEnd) throw parser.scan.expected("AND, OR or the end of the filter");
    return filter;
  });

class Parser {
  readonly scan: Scanner;
  #comparisons = 0;

  constructor(text: string) {
    this.scan = new Scanner(text);
  }

  all(depth: number): Filter {
    const parts = [this.#any(depth)];
    for (;;) {
      const joins = this.scan.takesKeyword("AND");
      if (!joins && (this.scan.isAtEnd || this.scan.sees(")"))) return joined("and", parts);
      parts.push(this.#any(depth));
    }
  }

  #any(depth: number): Filter {
    const parts = [this.#one(depth)];
    while (this.scan.takesKeyword("OR")) parts.push(this.#one(depth));
    return joined("or", parts);
  }

  #one(depth: number): Filter {
    if (this.scan.takesKeyword("NOT") || this.scan.takes("-"))
      return { kind: "not", part: this.#simple(depth) };
    return this.#simple(depth);
  }

  #simple(depth: number): Filter {
    const at = this.scan.skip();
    if (this.scan.takes("(")) {
      if (depth >= LIMITS.filterDepth)
        throw new FilterError(
          at,
          `more than ${LIMITS.filterDepth} parentheses are inside each other`,
        );
      const inner = this.all(depth + 1);
      if (!this.scan.takes(")")) throw this.scan.expected(")");
      return inner;
    }
    return this.#comparison(at);
  }

  #comparison(at: number): Filter {
    this.#comparisons += 1;
    if (this.#comparisons > LIMITS.filterComparisons)
      throw new FilterError(at, `the filter has more than ${LIMITS.filterComparisons} comparisons`);
    if (this.scan.seesKeyword) throw this.scan.expected("the name of a field");
    const path = this.scan.path();
    const comparator = this.scan.comparator();
    return { kind: "compare", path, comparator, argument: this.scan.argument(), at };
  }
}

function joined(kind: "and" | "or", parts: readonly Filter[]): Filter {
  const [first, ...others] = parts;
  return first !== undefined && others.length === 0 ? first : { kind, parts };
}
