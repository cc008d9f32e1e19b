// YAML to a plain value, in time and space proportional to the text. The parser's own conversion and its own search for repeated keys
// are not used: nested keys of a few kilobytes keep them busy for minutes (measured), so this file does both.

import { isAlias, isMap, isNode, isScalar, isSeq, type Pair, parseDocument } from "yaml";
import { JSON_FAULTS, type JsonFault } from "../data/json-fault.ts";
import { LIMITS } from "../data/limits.ts";
import { exceedsUtf8 } from "../data/utf8.ts";

export type YamlFault = JsonFault | "YAML_SYNTAX" | "YAML_ALIAS";

export type ReadYaml =
  /** `contents` is the parser's own, for positions. */
  | { readonly ok: true; readonly value: unknown; readonly contents: unknown }
  | {
      readonly ok: false;
      readonly reason: YamlFault;
      readonly message: string;
      /** The position in characters, from 0, if the fault has one. */
      readonly offset?: number | undefined;
    };

/** More open brackets than this are an attack: the parser would take seconds to notice. */
const OPEN_BRACKETS_MAX = 1_000;

/** Leaves the conversion at the first fault; only `readYaml` catches it. */
class Refused extends Error {
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
    return { ok: false, reason: "TOO_LARGE", message };
  }
  try {
    checkBrackets(text);
    const document = parseDocument(text, {
      // Integers are bigint, so that an integer that would be rounded is noticed.
      intAsBigInt: true,
      // Without this the parser would silently ignore a second document.
      logLevel: "error",
      prettyErrors: false,
      uniqueKeys: false,
      // Without the known tags every tag is a warning, and a warning is refused: the reader does not guess.
      resolveKnownTags: false,
    });
    const fault = document.errors[0] ?? document.warnings[0];
    if (fault?.code === "RESOURCE_EXHAUSTION") throw refused("JSON_TOO_DEEP");
    if (fault?.code === "MULTIPLE_DOCS")
      throw new Refused("YAML_SYNTAX", SECOND_DOCUMENT, secondDocument(text, fault.pos[0]));
    if (fault !== undefined)
      throw new Refused("YAML_SYNTAX", fault.message.slice(0, 200), fault.pos[0]);
    const { contents } = document;
    return { ok: true, value: plain(contents, 0), contents };
  } catch (error) {
    if (error instanceof Refused) {
      const { reason, message, offset } = error;
      return { ok: false, reason, message, offset };
    }
    if (error instanceof RangeError)
      return { ok: false, reason: "JSON_TOO_DEEP", message: JSON_FAULTS.JSON_TOO_DEEP };
    return { ok: false, reason: "YAML_SYNTAX", message: "not YAML" };
  }
}

const SECOND_DOCUMENT =
  "a second YAML document begins here; a definition is one document, so save each in its own file";

/** The parser gives the position of the content; the author looks for the marker before it. */
function secondDocument(text: string, offset: number): number {
  const marker = text.slice(0, offset + 3).lastIndexOf("---");
  return marker === -1 ? offset : marker;
}

function checkBrackets(text: string): void {
  let open = 0;
  for (const char of text) {
    if (char === "[" || char === "{") open += 1;
    else if ((char === "]" || char === "}") && open > 0) open -= 1;
    if (open > OPEN_BRACKETS_MAX) throw refused("JSON_TOO_DEEP");
  }
}

/** `depth` counts the lists and maps around this node. */
function plain(node: unknown, depth: number): unknown {
  if (isScalar(node)) return scalar(node.value, node);
  if (isAlias(node)) throw new Refused("YAML_ALIAS", NO_ALIAS, startOf(node));
  if (!isSeq(node) && !isMap(node)) return null;
  if (depth >= LIMITS.jsonDepth) throw refused("JSON_TOO_DEEP", node);
  if (isSeq(node)) return node.items.map((item) => plain(item, depth + 1));
  const entries = new Map<string, unknown>();
  for (const pair of node.items) {
    const key = keyOf(pair);
    if (entries.has(key)) throw refused("JSON_DUPLICATE_KEY", pair.key);
    entries.set(key, plain(pair.value, depth + 1));
  }
  return Object.fromEntries(entries);
}

function scalar(value: unknown, node: unknown): unknown {
  if (typeof value === "number" && !Number.isFinite(value)) throw refused("NUMBER_RANGE", node);
  if (typeof value !== "bigint") return value;
  if (!Number.isSafeInteger(Number(value))) throw refused("NUMBER_PRECISION", node);
  return Number(value);
}

const NO_ALIAS = "aliases are not read; write it out";

function keyOf({ key }: Pair): string {
  // A scalar is text, a number, a boolean or null; null as a key is the empty name.
  if (isScalar<string | number | bigint | boolean | null>(key)) return String(key.value ?? "");
  if (isAlias(key)) throw new Refused("YAML_ALIAS", NO_ALIAS, startOf(key));
  throw new Refused("YAML_SYNTAX", "a key is a name, not a list or a map", startOf(key));
}

const refused = (reason: JsonFault, node?: unknown): Refused =>
  new Refused(reason, JSON_FAULTS[reason], startOf(node));

const startOf = (node: unknown): number | undefined =>
  isNode(node) ? (node.range?.[0] ?? undefined) : undefined;
