// Ids by which the server recognises a repeat of a call.

const BYTES = 16;

/**
 * A fresh id. `crypto.randomUUID` is missing on pages without TLS, and Node 18 has no global `crypto` at all. There Math.random
 * serves: an id only has to differ from the caller's other ids, it is no secret.
 */
export function freshRequestId(): string {
  const { crypto } = globalThis as { crypto?: Crypto };
  if (crypto?.randomUUID !== undefined) return crypto.randomUUID();
  const bytes =
    crypto === undefined
      ? Uint8Array.from({ length: BYTES }, () => Math.floor(Math.random() * 256))
      : crypto.getRandomValues(new Uint8Array(BYTES));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
