// Ids by which the server knows a repeat.

const BYTES = 16;

/** A fresh id; randomUUID is missing where the page is not a secure context. */
export const freshRequestId = (): string =>
  Array.from(crypto.getRandomValues(new Uint8Array(BYTES)), (byte) =>
    byte.toString(16).padStart(2, "0"),
  ).join("");
