// The elements of a JSON array as texts, without parsing them. The array was checked before it entered the log.

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
