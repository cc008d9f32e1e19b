// JSON as people read it.

/** JSON text parsed, or the text itself when it is no JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}

/** JSON text set out on several lines; other text as it is. */
export function prettyJson(text: string): string {
  const value = parseJson(text);
  return typeof value === "string" ? value : JSON.stringify(value, null, 2);
}

const utf8 = new TextDecoder();

/** The JSON text carried as bytes; empty when there was none. */
export const jsonText = (bytes: Uint8Array): string => utf8.decode(bytes);
