// JSON text for people.

/** JSON text parsed, or the text itself when it is not JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}

/** Whether a text is JSON: no JSON text is its own value. */
export const isJson = (text: string): boolean => parseJson(text) !== text;

/** JSON text on several lines. Other text stays unchanged. */
export function prettyJson(text: string): string {
  const value = parseJson(text);
  return typeof value === "string" ? value : JSON.stringify(value, null, 2);
}
