// YAML to a plain value in time and space proportional to the text. The parser's own conversion and its own search for repeated
// keys are not used: nested keys of a few kilobytes keep them busy for minutes (measured), so both are done here.

import { isAlias, isMap, isScalar, isSeq, type Pair, parseDocument } from "yaml";
import { JSON_FAULTS, type JsonFault } from "../data/json-fault.ts";
import { LIMITS } from "../data/limits.ts";
import { exceedsUtf8 } from "../data/utf8.ts";

export type YamlFault = JsonFault | "YAML_SYNTAX" | "YAML_ALIAS";

export type ReadYaml =
  /** Integers are bigint, so that one that would be rounded can be noticed. */
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly reason: YamlFault; readonly message: string };

/** More brackets left open than this are an attack: the parser would take seconds to find out. */
const OPEN_BRACKETS_MAX = 1_000;

/** Leaves the conversion at the first fault; caught by `readYaml` and nowhere else. */
class Refused extends Error {
  readonly reason: YamlFault;

  constructor(reason: YamlFault, message: string) {
    super(message);
    this.reason = reason;
  }
}

/** Reads one document without aliases, tags and merge keys. Never throws, whatever the text. */
export function readYaml(text: string): ReadYaml {
  if (exceedsUtf8(text, LIMITS.definitionYamlBytes)) {
    const message = `YAML is at most ${LIMITS.definitionYamlBytes} bytes; write JSON instead`;
    return { ok: false, reason: "TOO_LARGE", message };
  }
  try {
    checkBrackets(text);
    const document = parseDocument(text, {
      intAsBigInt: true,
      logLevel: "silent",
      prettyErrors: false,
      uniqueKeys: false,
      // Without these a tag is a warning, and a warning is refused: we would rather not guess.
      resolveKnownTags: false,
    });
    const fault = document.errors[0] ?? document.warnings[0];
    if (fault?.code === "RESOURCE_EXHAUSTION") throw refused("JSON_TOO_DEEP");
    if (fault !== undefined) throw new Refused("YAML_SYNTAX", fault.message.slice(0, 200));
    return { ok: true, value: plain(document.contents, 0) };
  } catch (error) {
    if (error instanceof Refused)
      return { ok: false, reason: error.reason, message: error.message };
    if (error instanceof RangeError)
      return { ok: false, reason: "JSON_TOO_DEEP", message: JSON_FAULTS.JSON_TOO_DEEP };
    return { ok: false, reason: "YAML_SYNTAX", message: "not YAML" };
  }
}

function checkBrackets(text: string): void {
  let open = 0;
  for (const char of text) {
    if (char === "[" || char === "{") open += 1;
    else if ((char === "]" || char === "}") && open > 0) open -= 1;
    if (open > OPEN_BRACKETS_MAX) throw refused("JSON_TOO_DEEP");
  }
}

/** `depth` lists and maps are around this node. */
function plain(node: unknown, depth: number): unknown {
  if (isScalar(node)) return node.value;
  if (isAlias(node)) throw new Refused("YAML_ALIAS", "aliases are not read; write it out");
  if (!isSeq(node) && !isMap(node)) return null;
  if (depth >= LIMITS.jsonDepth) throw refused("JSON_TOO_DEEP");
  if (isSeq(node)) return node.items.map((item) => plain(item, depth + 1));
  const entries = new Map<string, unknown>();
  for (const pair of node.items) {
    const key = keyOf(pair);
    if (entries.has(key)) throw refused("JSON_DUPLICATE_KEY");
    entries.set(key, plain(pair.value, depth + 1));
  }
  return Object.fromEntries(entries);
}

function keyOf({ key }: Pair): string {
  // A scalar is text, a number, a truth value or nothing, which is written as an empty name.
  if (isScalar<string | number | bigint | boolean | null>(key)) return String(key.value ?? "");
  if (isAlias(key)) throw new Refused("YAML_ALIAS", "aliases are not read; write it out");
  throw new Refused("YAML_SYNTAX", "a key is a name, not a list or a map");
}

const refused = (reason: JsonFault): Refused => new Refused(reason, JSON_FAULTS[reason]);
