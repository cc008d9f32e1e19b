// User data travels as bytes holding JSON, exactly as its author wrote it; these turn it into values and back.

/** What JSON can say. */
export type Json =
  | null
  | boolean
  | number
  | string
  | readonly Json[]
  | { readonly [key: string]: Json };

/** The value in a `…_json` field; undefined when the field is empty. @throws SyntaxError when it is not JSON. */
export function jsonOf(bytes: Uint8Array): Json | undefined {
  if (bytes.length === 0) return undefined;
  const value: Json = JSON.parse(new TextDecoder().decode(bytes));
  return value;
}

/** The text in a `…_json` field, to the letter; undefined when the field is empty. */
export const jsonTextOf = (bytes: Uint8Array | undefined): string | undefined =>
  bytes === undefined || bytes.length === 0 ? undefined : new TextDecoder().decode(bytes);

/** The bytes of a value; text that is JSON already goes by `jsonTextBytes`, which keeps it to the letter. */
export const jsonBytes = (value: unknown): Uint8Array => jsonTextBytes(JSON.stringify(value));

/** The bytes of JSON text. */
export const jsonTextBytes = (text: string): Uint8Array => new TextEncoder().encode(text);
