// Sizes in UTF-8, counted without encoding. Limits are in bytes, and strings are not.

/** Bytes of `text` in UTF-8. A lone surrogate counts as the replacement character it would become. */
export function utf8Bytes(text: string): number {
  let bytes = text.length;
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (unit < 0x80) continue;
    bytes++;
    if (unit < 0x800) continue;
    // A surrogate pair is two units and four bytes. Every other unit here is three bytes.
    if (unit >= 0xd800 && unit <= 0xdbff && isLowSurrogate(text.charCodeAt(at + 1))) at++;
    bytes++;
  }
  return bytes;
}

/** True if `text` takes more than `limit` bytes. A short text needs no scan. */
export const exceedsUtf8 = (text: string, limit: number): boolean =>
  text.length > limit || (text.length * 3 > limit && utf8Bytes(text) > limit);

const isLowSurrogate = (unit: number): boolean => unit >= 0xdc00 && unit <= 0xdfff;
