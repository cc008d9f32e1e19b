// The letters of a filter: reads names, texts and operators from left to right.

import { type Argument, type Comparator, FilterError } from "./ast.ts";

const SPACE = /[ \t\r\n]*/y;
const NAME = /[\p{L}_][\p{L}\p{N}_-]*|[0-9][\p{L}\p{N}_-]*/uy;
/** An argument without quotes. It may be a time or a number, so it has signs, dots and colons. */
const WORD = /[^\s()"'=<>!,\\]+/y;
const COMPARATOR = /<=|>=|!=|[=<>:]/y;
const KEYWORDS = new Set(["AND", "OR", "NOT"]);

export class Scanner {
  readonly text: string;
  at = 0;

  constructor(text: string) {
    this.text = text;
  }

  /** Skips spaces, and returns the place of what follows. */
  skip(): number {
    this.#take(SPACE);
    return this.at;
  }

  get isAtEnd(): boolean {
    return this.skip() >= this.text.length;
  }

  /** Whether the next character is this one. */
  sees(character: string): boolean {
    this.skip();
    return this.text.startsWith(character, this.at);
  }

  /** Takes a character if it comes next. */
  takes(character: string): boolean {
    if (!this.sees(character)) return false;
    this.at += character.length;
    return true;
  }

  /** Takes a keyword if it comes next, as a whole word in capitals. */
  takesKeyword(word: "AND" | "OR" | "NOT"): boolean {
    if (this.#nextName() !== word) return false;
    this.at += word.length;
    return true;
  }

  get seesKeyword(): boolean {
    return KEYWORDS.has(this.#nextName());
  }

  /** The name of a field, and the keys behind its dots. */
  path(): string[] {
    this.skip();
    const path = [this.#segment("the name of a field")];
    while (this.text[this.at] === ".") {
      this.at += 1;
      path.push(this.#segment("a key"));
    }
    return path;
  }

  comparator(): Comparator {
    this.skip();
    const found = this.#take(COMPARATOR);
    if (found !== "") return found as Comparator;
    throw this.expected("a comparison: = != < <= > >= or :");
  }

  argument(): Argument {
    const at = this.skip();
    const quote = this.text[at];
    const isQuoted = quote === '"' || quote === "'";
    const raw = isQuoted ? this.#quoted(quote) : this.#take(WORD);
    if (raw === "" && !isQuoted) throw this.expected("a value");
    if (!isQuoted && KEYWORDS.has(raw)) {
      this.at = at;
      throw this.expected("a value");
    }
    return { ...unescaped(raw, at), isQuoted, at };
  }

  /** The error for something else than expected here. */
  expected(what: string): FilterError {
    const at = this.skip();
    const rest = this.text.slice(at, at + SHOWN);
    const found = rest === "" ? "the filter ends" : `"${rest}" is there`;
    return new FilterError(at, `expected ${what}, but ${found}`);
  }

  #segment(what: string): string {
    const quote = this.text[this.at];
    if (quote !== '"' && quote !== "'") {
      const name = this.#take(NAME);
      if (name === "") throw this.expected(what);
      return name;
    }
    const at = this.at;
    return unescaped(this.#quoted(quote), at, false).text;
  }

  /** The text between two quotes, with its escapes. */
  #quoted(quote: string): string {
    const begin = this.at;
    for (let at = begin + 1; at < this.text.length; at += 1) {
      if (this.text[at] === "\\") at += 1;
      else if (this.text[at] === quote) {
        this.at = at + 1;
        return this.text.slice(begin + 1, at);
      }
    }
    throw new FilterError(begin, `the text that begins here has no closing ${quote}`);
  }

  #nextName(): string {
    const at = this.skip();
    const name = this.#take(NAME);
    this.at = at;
    return name;
  }

  #take(pattern: RegExp): string {
    pattern.lastIndex = this.at;
    const [found = ""] = pattern.exec(this.text) ?? [];
    this.at += found.length;
    return found;
  }
}

/** How many characters of the filter a message shows. */
const SHOWN = 20;

/** Resolves escapes and takes wildcards off the ends. */
function unescaped(
  raw: string,
  at: number,
  hasWildcards = true,
): Pick<Argument, "text" | "opensStart" | "opensEnd"> {
  let text = "";
  let opensStart = false;
  let opensEnd = false;
  for (let index = 0; index < raw.length; index += 1) {
    const character = raw[index] ?? "";
    if (character === "\\") {
      index += 1;
      text += escaped(raw[index] ?? "", at);
    } else if (character !== "*" || !hasWildcards) text += character;
    else if (index === 0) opensStart = true;
    else if (index === raw.length - 1) opensEnd = true;
    else
      throw new FilterError(
        at,
        "a * stands only at the beginning or the end of a text; write \\* for the character",
      );
  }
  return { text, opensStart, opensEnd: opensEnd || raw === "*" };
}

function escaped(character: string, at: number): string {
  if (character === "n") return "\n";
  if (character === "t") return "\t";
  if (character === "\\" || character === '"' || character === "'" || character === "*")
    return character;
  throw new FilterError(at, `\\${character} is not an escape; use \\\\ \\" \\' \\* \\n or \\t`);
}
