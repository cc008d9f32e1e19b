// The rules of docs/reference/handler-protocol.md by their ids.

import { readFileSync } from "node:fs";

const PAGE = new URL("../../docs/reference/handler-protocol.md", import.meta.url);
const RULE = /^- \*\*([A-Z]\d+)\*\* ([\s\S]*?)(?=\n- \*\*|\n\n|\n$(?![\s\S]))/gm;

/** The text of each rule on one line. */
export function rulesOfPage(): ReadonlyMap<string, string> {
  const found = readFileSync(PAGE, "utf8").matchAll(RULE);
  return new Map(
    [...found].map(([, id = "", text = ""]) => [
      id,
      text.replaceAll("**", "").replace(/\s+/g, " "),
    ]),
  );
}
