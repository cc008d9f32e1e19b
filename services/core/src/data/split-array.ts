// The elements of a JSON array, or the members of a JSON object, as texts. Values are not parsed, so they keep their spelling. The text
// was checked before it entered the log.

/** The text of each element. */
export function splitArray(text: string): string[] {
  const elements: string[] = [];
  let depth = 0;
  let from = 0;
  for (let at = 0; at < text.length; at++) {
    const char = text[at];
    if (char === '"') at = endOfString(text, at);
    else if (char === "[" || char === "{") {
      depth++;
      if (depth === 1) from = at + 1;
    } else if (char === "]" || char === "}") {
      depth--;
      if (depth === 0) push(elements, text.slice(from, at));
    } else if (char === "," && depth === 1) {
      push(elements, text.slice(from, at));
      from = at + 1;
    }
  }
  return elements;
}

/** The text of each member's value by its key, in the order of the text. */
export function splitObject(text: string): Map<string, string> {
  // Members are separated as elements are.
  return new Map(
    splitArray(text).map((member) => {
      const end = endOfString(member, 0) + 1;
      const value = member.slice(member.indexOf(":", end) + 1).trim();
      return [String(JSON.parse(member.slice(0, end))), value];
    }),
  );
}

/** The JSON object of these members. */
export const joinObject = (members: Iterable<readonly [string, string]>): string =>
  `{${[...members].map(([key, json]) => `${JSON.stringify(key)}:${json}`).join(",")}}`;

function push(elements: string[], element: string): void {
  const trimmed = element.trim();
  // Only the empty array has an empty element.
  if (trimmed !== "") elements.push(trimmed);
}

/** The index of the quote that ends the string that begins at `open`. */
function endOfString(text: string, open: number): number {
  for (let at = open + 1; at < text.length; at++) {
    if (text[at] === "\\") at++;
    else if (text[at] === '"') return at;
  }
  return text.length;
}
