// The behaviours of a watch in clients/PARITY.md by their ids.

import { readFileSync } from "node:fs";

const PAGE = new URL("../../../clients/PARITY.md", import.meta.url);
const ROW = /^\| \*\*(W\d+)\*\* ([^|]+?)\s*\|/gm;

export const rulesOfParity = (): ReadonlyMap<string, string> =>
  new Map(
    [...readFileSync(PAGE, "utf8").matchAll(ROW)].map(([, id = "", text = ""]) => [id, text]),
  );
