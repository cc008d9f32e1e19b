// Turns definition text into a plain value: JSON if it begins like JSON, otherwise YAML. Both pass the same checks, so both refuse the same
// values.

import { checkJson } from "../data/json.ts";
import { LIMITS } from "../data/limits.ts";
import { JSON_FAULTS, type JsonLimits } from "../data/scan-json.ts";
import { exceedsUtf8 } from "../data/utf8.ts";
import { refused } from "../fault/refused.ts";
import { jsonPlaces, lineAt, offsetOf, pathAt, type Places, yamlPlaces } from "./places.ts";
import { readYaml, type ReadYaml, type Unreadable } from "./read-yaml.ts";
import { excerpt } from "./violation.ts";

/** A definition has many small objects, so the limit of its bytes also bounds its keys. */
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
      /** Computes the positions in the text on demand. */
      readonly places: () => Places;
    }
  | Unreadable;

/** Reads a definition's text. Never throws, for any text. */
export function readText(text: string): ReadText {
  if (exceedsUtf8(text, LIMITS.definitionBytes)) {
    return refused("TOO_LARGE", `a definition is at most ${LIMITS.definitionBytes} bytes`);
  }
  const isJson = /^\s*[{[]/.test(text);
  if (text.startsWith("\ufeff")) {
    const message = "begins with a byte order mark; save it as UTF-8 without one";
    return refused(isJson ? "JSON_SYNTAX" : "YAML_SYNTAX", message);
  }
  const read = isJson ? fromJson(text) : fromYaml(readYaml(text));
  return read.ok || read.offset === undefined ? read : { ...read, message: shown(text, read) };
}

function fromJson(text: string): ReadText {
  const checked = checkJson(text, DEFINITION_LIMITS);
  if (checked.ok) return { ...checked, places: () => jsonPlaces(text) };
  const { reason, offset } = checked;
  if (offset === undefined) return checked;
  // YAML in flow style begins like JSON, and its author may not know that it is read as JSON.
  const hint = reason === "JSON_SYNTAX" ? " (a text that begins with { or [ is read as JSON)" : "";
  return { ...checked, message: `${JSON_FAULTS[reason]}${hint}` };
}

/** Converts to JSON text first, so that the same checks apply. */
function fromYaml(read: ReadYaml): ReadText {
  if (!read.ok) return read;
  const { value, contents } = read;
  const places = (): Places => yamlPlaces(contents);
  const json = JSON.stringify(value) ?? "null";
  const checked = checkJson(json, DEFINITION_LIMITS);
  if (checked.ok) return { ok: true, value: checked.value, places };
  const { reason, offset } = checked;
  if (offset === undefined) return checked;
  // The fault is in the JSON made from the YAML. The author finds the same path in the YAML.
  const path = pathAt(jsonPlaces(json, offset), offset);
  const own = offsetOf(places(), path);
  return { ...refused(reason, JSON_FAULTS[reason]), offset: own };
}

/** The message with the line of the fault. */
function shown(text: string, { message, offset = 0 }: Unreadable): string {
  const line = excerpt(lineAt(text, offset));
  return line === "" ? message : `${message}: \`${line}\``;
}
