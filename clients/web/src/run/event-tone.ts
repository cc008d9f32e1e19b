// The colour of a row of the event log: the state its event leads to, as graph and timeline show it. Pure. The word is always there too.

import type { Looks } from "./looks.ts";
import { nodeKey } from "./view.ts";
import type { EventRow } from "./view.ts";

/** Facts that settle a node; how it was settled, its look says. */
const SETTLING: ReadonlySet<string> = new Set([
  "node.completed",
  "node.failed",
  "node.timed_out",
  "node.cancelled",
]);
const WORDS: Readonly<Record<string, string>> = {
  started: "running",
  recovered: "lost",
  blocked: "waiting",
};

/** The state of an event's row. */
export function toneOf(row: Pick<EventRow, "type" | "nodeId" | "iteration">, looks: Looks): string {
  const look = looks.get(nodeKey(row.nodeId, row.iteration))?.look;
  if (SETTLING.has(row.type) && (look === "handled" || look === "not_run")) return look;
  const word = row.type.replace(/^(node|run)\./, "");
  return WORDS[word] ?? word;
}
