// Cuts text to limits in bytes of UTF-8, never inside of a character.

/** How many bytes a text has. */
export const bytesIn = (text: string): number => Buffer.byteLength(text);

/** The longest beginning of `text` that has at most `bytesMax` bytes. */
export const cut = (text: string, bytesMax: number): string => {
  if (bytesIn(text) <= bytesMax) return text.toWellFormed();
  const bytes = Buffer.from(text);
  let end = Math.max(0, bytesMax);
  // A byte 10xxxxxx continues a character.
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1;
  return bytes.toString("utf8", 0, end);
};

/** `text` in pieces of at most `bytesMax` bytes each, but of at least one character. */
export function* pieces(text: string, bytesMax: number): Generator<string> {
  let rest = text.toWellFormed();
  while (rest !== "") {
    const [first = ""] = rest;
    const piece = cut(rest, bytesMax) || first;
    yield piece;
    rest = rest.slice(piece.length);
  }
}
