// User data is sent as bytes of JSON, exactly as its author wrote it. These functions turn it into values and back.

/** Everything that JSON can express. */
export type Json =
  | null
  | boolean
  | number
  | string
  | readonly Json[]
  | { readonly [key: string]: Json };

/** JSON or YAML text, or the definition as a value. */
export type DefinitionInput = string | { readonly [key: string]: Json };

/** A definition in a request: the server parses the text. */
export const definitionOf = (definition: DefinitionInput) => ({
  text: typeof definition === "string" ? definition : JSON.stringify(definition),
});

/** The value in a `…_json` field. Undefined when the field is empty. @throws SyntaxError when it is not JSON. */
export function jsonOf(bytes: Uint8Array): Json | undefined {
  const text = jsonTextOf(bytes);
  return text === undefined ? undefined : (JSON.parse(text) as Json);
}

/** The text in a `…_json` field, to the letter. Undefined when the field is empty. */
export const jsonTextOf = (bytes: Uint8Array | undefined): string | undefined =>
  bytes === undefined || bytes.length === 0 ? undefined : new TextDecoder().decode(bytes);

/** The bytes of a value. `jsonTextBytes` takes JSON text, and keeps it to the letter. */
export const jsonBytes = (value: unknown): Uint8Array => jsonTextBytes(JSON.stringify(value));

/** The bytes of JSON text. */
export const jsonTextBytes = (text: string): Uint8Array => new TextEncoder().encode(text);

/** The bytes of a value that a caller gives as JSON text or as a value. Undefined for neither. */
export function bytesOf(value: Json | undefined, text: string | undefined): Uint8Array | undefined {
  if (text !== undefined) return jsonTextBytes(text);
  return value === undefined ? undefined : jsonBytes(value);
}
