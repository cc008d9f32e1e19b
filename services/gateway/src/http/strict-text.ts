// The text of a JSON body, to the letter: bytes that are no UTF-8 are refused instead of replaced, and so is a byte order mark, which
// JSON that travels must not have (RFC 8259, 8.1). The same holds for JSON inside of messages (rpc/ingress.ts).

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
const MARK = "\ufeff";

export const strictText = {
  /** @throws Error that says what to do */
  decode(bytes: Uint8Array): string {
    const text = decoded(bytes);
    if (text.startsWith(MARK))
      throw new Error("the body begins with a byte order mark; send it without one");
    return text;
  },
};

function decoded(bytes: Uint8Array): string {
  try {
    return utf8.decode(bytes);
  } catch {
    throw new Error("the body is not UTF-8");
  }
}
