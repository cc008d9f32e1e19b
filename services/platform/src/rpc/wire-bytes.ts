// An upper bound of the bytes of a message on the wire, without encoding it. Streams cut their messages by this bound. It reads init
// objects and whole messages of any schema, so every stream counts the same way. It counts a few hundred bytes too many at most, besides
// the texts and bytes of a message.

/** A tag, and the length or the largest number after it. */
const FIELD_BYTES = 16;
/** Short texts count as three bytes per character. For longer texts an exact count is worth the call. */
const SHORT_TEXT = 256;

/** An upper bound of the encoded size of `value`. */
export function wireBytes(value: unknown): number {
  if (typeof value === "string")
    return value.length <= SHORT_TEXT ? 3 * value.length : Buffer.byteLength(value);
  // Numbers and booleans are part of their field.
  if (typeof value !== "object" || value === null) return 0;
  if (value instanceof Uint8Array) return value.length;
  let bytes = 0;
  if (Array.isArray(value)) {
    for (const each of value) bytes += FIELD_BYTES + wireBytes(each);
    return bytes;
  }
  // Ten times as fast as Object.entries (0.16 µs per assignment); messages inherit no enumerable properties.
  for (const key in value) {
    // The key counts for the entries of a map. The keys of a message are not on the wire and are short.
    const each: unknown = (value as Record<string, unknown>)[key];
    if (each !== undefined) bytes += FIELD_BYTES + 3 * key.length + wireBytes(each);
  }
  return bytes;
}
