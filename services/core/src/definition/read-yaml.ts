// Turns YAML into a plain value, in time and space proportional to the text. The parser's own conversion and its own search for repeated
// keys are not used: nested keys of a few kilobytes keep them busy for minutes (measured). So this file does both.

import { isAlias, isMap, isScalar, isSeq, type Pair, parseDocument } from "yaml";
import { LIMITS } from "../data/limits.ts";
import { JSON_FAULTS, type JsonFault } from "../data/scan-json.ts";
import { exceedsUtf8 } from "../data/utf8.ts";
import { refused, type Refused } from "../fault/refused.ts";
import { startOf } from "./places.ts";

type YamlFault = JsonFault | "YAML_SYNTAX" | "YAML_ALIAS";

/** `offset` is the position in characters, from 0, if the fault has one. */
export type Unreadable = Refused<YamlFault> & { readonly offset?: number | undefined };

export type ReadYaml =
  /** `contents` is the parser's own, for positions. */
  { readonly ok: true; readonly value: unknown; readonly contents: unknown } | Unreadable;

/** More open brackets than this are an attack: the parser would take seconds to notice. */
const OPEN_BRACKETS_MAX = 1_000;

/** Ends the conversion at the first fault. Only `readYaml` catches it. */
class YamlError extends Error {
  readonly reason: YamlFault;
  readonly offset: number | undefined;

  constructor(reason: YamlFault, message: string, offset?: number) {
    super(message);
    this.reason = reason;
    this.offset = offset;
  }
}

/** Reads one document without aliases, tags and merge keys. Never throws, for any text. */
export function readYaml(text: string): ReadYaml {
  if (exceedsUtf8(text, LIMITS.definitionYamlBytes)) {
    const message = `YAML is at most ${LIMITS.definitionYamlBytes} bytes; write JSON instead`;
    return refused("TOO_LARGE", message);
  }
  try {
    checkBrackets(text);
    const document = parseDocument(text, {
      // Integers are bigint, so that a rounded integer is noticed.
      intAsBigInt: true,
      // Without this the parser would silently ignore a second document.
      logLevel: "error",
      prettyErrors: false,
      uniqueKeys: false,
      // Without the known tags every tag is a warning, and a warning is refused: the reader does not guess.
      resolveKnownTags: false,
    });
    const first = document.errors[0] ?? document.warnings[0];
    // The end of the stack depends on the compiler. The parser reports some of its own overflows as faults of the text.
    if (first?.code === "RESOURCE_EXHAUSTION" || first?.message.includes("call stack") === true)
      throw fault("JSON_TOO_DEEP");
    if (first?.code === "MULTIPLE_DOCS")
      throw new YamlError("YAML_SYNTAX", SECOND_DOCUMENT, secondDocument(text, first.pos[0]));
    if (first !== undefined)
      throw new YamlError("YAML_SYNTAX", first.message.slice(0, 200), first.pos[0]);
    const { contents } = document;
    return { ok: true, value: plain(contents, 0), contents };
  } catch (error) {
    if (error instanceof YamlError)
      return { ...refused(error.reason, error.message), offset: error.offset };
    if (error instanceof RangeError) return refused("JSON_TOO_DEEP", JSON_FAULTS.JSON_TOO_DEEP);
    return refused("YAML_SYNTAX", "not YAML");
  }
}

const SECOND_DOCUMENT =
  "a second YAML document begins here; a definition is one document, so save each in its own file";

/** The parser gives the position of the content. The author looks for the marker before it. */
function secondDocument(text: string, offset: number): number {
  const marker = text.slice(0, offset + 3).lastIndexOf("---");
  return marker === -1 ? offset : marker;
}

function checkBrackets(text: string): void {
  let open = 0;
  for (const char of text) {
    if (char === "[" || char === "{") open += 1;
    else if ((char === "]" || char === "}") && open > 0) open -= 1;
    if (open > OPEN_BRACKETS_MAX) throw fault("JSON_TOO_DEEP");
  }
}

/** `depth` counts the lists and maps around this node. */
function plain(node: unknown, depth: number): unknown {
  if (isScalar(node)) return scalar(node.value, node);
  if (isAlias(node)) throw new YamlError("YAML_ALIAS", NO_ALIAS, startOf(node));
  if (!isSeq(node) && !isMap(node)) return null;
  if (depth >= LIMITS.jsonDepth) throw fault("JSON_TOO_DEEP", node);
  if (isSeq(node)) return node.items.map((item) => plain(item, depth + 1));
  const entries = new Map<string, unknown>();
  for (const pair of node.items) {
    const key = keyOf(pair);
    if (entries.has(key)) throw fault("JSON_DUPLICATE_KEY", pair.key);
    entries.set(key, plain(pair.value, depth + 1));
  }
  return Object.fromEntries(entries);
}

function scalar(value: unknown, node: unknown): unknown {
  if (typeof value === "number" && !Number.isFinite(value)) throw fault("NUMBER_RANGE", node);
  if (typeof value !== "bigint") return value;
  if (!Number.isSafeInteger(Number(value))) throw fault("NUMBER_PRECISION", node);
  return Number(value);
}

const NO_ALIAS = "aliases are not read; write it out";

function keyOf({ key }: Pair): string {
  // A scalar is text, a number, a boolean or null; null as a key is the empty name.
  if (isScalar<string | number | bigint | boolean | null>(key)) return String(key.value ?? "");
  if (isAlias(key)) throw new YamlError("YAML_ALIAS", NO_ALIAS, startOf(key));
  throw new YamlError("YAML_SYNTAX", "a key is a name, not a list or a map", startOf(key));
}

const fault = (reason: JsonFault, node?: unknown): YamlError =>
  new YamlError(reason, JSON_FAULTS[reason], startOf(node));
