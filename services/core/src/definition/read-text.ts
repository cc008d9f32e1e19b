// Definition text to a plain value: JSON when it begins like JSON, YAML otherwise. Both end in the same checks, so that what is
// refused in one is refused in the other. YAML is read without aliases, custom tags or merge keys.

import { parseDocument } from "yaml";
import { checkJson, type CheckedJson, type JsonLimits } from "../data/json.ts";
import { JSON_FAULTS, type JsonFault } from "../data/json-fault.ts";
import { LIMITS } from "../data/limits.ts";
import { exceedsUtf8 } from "../data/utf8.ts";

/** A definition has many small objects, so its keys are bounded by its bytes. */
const DEFINITION_LIMITS: JsonLimits = {
  bytes: LIMITS.definitionBytes,
  depth: LIMITS.jsonDepth,
  keys: LIMITS.definitionBytes,
  keyBytes: LIMITS.jsonKeyBytes,
};

export type ReadText =
  | CheckedJson
  | { readonly ok: false; readonly reason: "YAML_SYNTAX" | "YAML_ALIAS"; readonly message: string };

/** Reads a definition's text. Never throws, whatever the text. */
export function readText(text: string): ReadText {
  if (exceedsUtf8(text, LIMITS.definitionBytes)) {
    const message = `a definition is at most ${LIMITS.definitionBytes} bytes`;
    return { ok: false, reason: "TOO_LARGE", message };
  }
  return /^\s*[{[]/.test(text) ? checkJson(text, DEFINITION_LIMITS) : readYaml(text);
}

function readYaml(text: string): ReadText {
  try {
    const document = parseDocument(text, {
      intAsBigInt: true,
      logLevel: "silent",
      prettyErrors: false,
      // Without these a tag is a warning, and a warning is refused: we would rather not guess.
      resolveKnownTags: false,
    });
    const fault = document.errors[0] ?? document.warnings[0];
    if (fault !== undefined) return yamlFault(fault.code, fault.message);
    const value: unknown = document.toJS({ maxAliasCount: 0 });
    return fromYaml(value);
  } catch (error) {
    if (error instanceof RangeError) return yamlFault("RESOURCE_EXHAUSTION", "");
    if (error instanceof ReferenceError)
      return { ok: false, reason: "YAML_ALIAS", message: "aliases are not read; write it out" };
    return { ok: false, reason: "YAML_SYNTAX", message: "not YAML" };
  }
}

/** Through JSON, so that the same checks hold. Integers come as bigint, so that one that would be rounded is noticed. */
function fromYaml(value: unknown): ReadText {
  let reason: JsonFault | undefined;
  const json = JSON.stringify(value, (_key, item: unknown) => {
    if (typeof item === "number" && !Number.isFinite(item)) reason ??= "NUMBER_RANGE";
    if (typeof item !== "bigint") return item;
    if (!Number.isSafeInteger(Number(item))) reason ??= "NUMBER_PRECISION";
    return Number(item);
  });
  if (reason !== undefined) return { ok: false, reason, message: JSON_FAULTS[reason] };
  return checkJson(json ?? "null", DEFINITION_LIMITS);
}

function yamlFault(code: string, message: string): ReadText {
  if (code === "RESOURCE_EXHAUSTION")
    return { ok: false, reason: "JSON_TOO_DEEP", message: JSON_FAULTS.JSON_TOO_DEEP };
  if (code === "DUPLICATE_KEY")
    return { ok: false, reason: "JSON_DUPLICATE_KEY", message: JSON_FAULTS.JSON_DUPLICATE_KEY };
  return { ok: false, reason: "YAML_SYNTAX", message: message.slice(0, 200) };
}
