// Definition text to a plain value: JSON when it begins like JSON, YAML otherwise. Both end in the same checks, so that what is
// refused in one is refused in the other.

import { checkJson, type CheckedJson, type JsonLimits } from "../data/json.ts";
import { JSON_FAULTS, type JsonFault } from "../data/json-fault.ts";
import { LIMITS } from "../data/limits.ts";
import { exceedsUtf8 } from "../data/utf8.ts";
import { readYaml, type ReadYaml } from "./read-yaml.ts";

/** A definition has many small objects, so its keys are bounded by its bytes. */
const DEFINITION_LIMITS: JsonLimits = {
  bytes: LIMITS.definitionBytes,
  depth: LIMITS.jsonDepth,
  keys: LIMITS.definitionBytes,
  keyBytes: LIMITS.jsonKeyBytes,
};

export type ReadText = CheckedJson | Extract<ReadYaml, { ok: false }>;

/** Reads a definition's text. Never throws, whatever the text. */
export function readText(text: string): ReadText {
  if (exceedsUtf8(text, LIMITS.definitionBytes)) {
    const message = `a definition is at most ${LIMITS.definitionBytes} bytes`;
    return { ok: false, reason: "TOO_LARGE", message };
  }
  const isJson = /^\s*[{[]/.test(text);
  if (text.startsWith("\ufeff")) {
    const message = "begins with a byte order mark; save it as UTF-8 without one";
    return { ok: false, reason: isJson ? "JSON_SYNTAX" : "YAML_SYNTAX", message };
  }
  return isJson ? checkJson(text, DEFINITION_LIMITS) : fromYaml(readYaml(text));
}

/** Through JSON, so that the same checks hold. */
function fromYaml(read: ReadYaml): ReadText {
  if (!read.ok) return read;
  let reason: JsonFault | undefined;
  const json = JSON.stringify(read.value, (_key, item: unknown) => {
    if (typeof item === "number" && !Number.isFinite(item)) reason ??= "NUMBER_RANGE";
    if (typeof item !== "bigint") return item;
    if (!Number.isSafeInteger(Number(item))) reason ??= "NUMBER_PRECISION";
    return Number(item);
  });
  if (reason !== undefined) return { ok: false, reason, message: JSON_FAULTS[reason] };
  return checkJson(json ?? "null", DEFINITION_LIMITS);
}
