// Definition text to a plain value: JSON when it begins like JSON, YAML otherwise. Both end in the same checks, so that what is
// refused in one is refused in the other.

import { checkJson, type JsonLimits } from "../data/json.ts";
import { JSON_FAULTS } from "../data/json-fault.ts";
import { LIMITS } from "../data/limits.ts";
import { exceedsUtf8 } from "../data/utf8.ts";
import { jsonPlaces, lineAt, offsetOf, pathAt, type Places, yamlPlaces } from "./places.ts";
import { readYaml, type ReadYaml, type YamlFault } from "./read-yaml.ts";
import { excerpt } from "./violation.ts";

/** A definition has many small objects, so its keys are bounded by its bytes. */
const DEFINITION_LIMITS: JsonLimits = {
  bytes: LIMITS.definitionBytes,
  depth: LIMITS.jsonDepth,
  keys: LIMITS.definitionBytes,
  keyBytes: LIMITS.jsonKeyBytes,
};

export type ReadText =
  | {
      readonly ok: true;
      readonly value: unknown;
      /** Where everything stands, for those who ask. */
      readonly places: () => Places;
    }
  | {
      readonly ok: false;
      readonly reason: YamlFault;
      readonly message: string;
      /** Which character, from 0, where it is one. */
      readonly offset?: number | undefined;
    };

type Unreadable = Extract<ReadText, { ok: false }>;

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
  const read = isJson ? fromJson(text) : fromYaml(readYaml(text));
  return read.ok || read.offset === undefined ? read : { ...read, message: shown(text, read) };
}

function fromJson(text: string): ReadText {
  const checked = checkJson(text, DEFINITION_LIMITS);
  if (checked.ok) return { ...checked, places: () => jsonPlaces(text) };
  const { ok, reason, message, offset } = checked;
  if (offset === undefined) return { ok, reason, message };
  const what = JSON_FAULTS[reason];
  // Flow style of YAML begins like JSON, and its author may not know that it is read as such.
  const hint =
    reason === "JSON_SYNTAX" ? `${what} (a text that begins with { or [ is read as JSON)` : what;
  return { ok, reason, message: hint, offset };
}

/** Through JSON, so that the same checks hold. */
function fromYaml(read: ReadYaml): ReadText {
  if (!read.ok) return read;
  const { value, contents } = read;
  const places = (): Places => yamlPlaces(contents);
  const json = JSON.stringify(value) ?? "null";
  const checked = checkJson(json, DEFINITION_LIMITS);
  if (checked.ok) return { ok: true, value: checked.value, places };
  const { reason, message, offset } = checked;
  if (offset === undefined) return { ok: false, reason, message };
  // The fault was found in the JSON made of it: the author looks for the same path in the YAML.
  const path = pathAt(jsonPlaces(json, offset), offset);
  const own = offsetOf(places(), path);
  return { ok: false, reason, message: JSON_FAULTS[reason], offset: own };
}

/** The message with the line it is about. */
function shown(text: string, { message, offset = 0 }: Unreadable): string {
  const line = excerpt(lineAt(text, offset));
  return line === "" ? message : `${message}: \`${line}\``;
}
