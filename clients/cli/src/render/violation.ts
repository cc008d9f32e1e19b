// Broken rules and warnings of a definition in the format of compilers, so that editors find the place: file:line:column, the id of
// the node, and the fault.

import type { Validation } from "@pawl/client";
import { safeText } from "./spans.ts";

type Violation = Validation["violations"][number];

/** One line for each. */
export const placedLines = (file: string, violations: readonly Violation[]): readonly string[] =>
  violations.map(({ path, reason, message, nodeId, line, column }) => {
    const place = line === 0 ? file : `${file}:${line}:${column}`;
    const node = nodeId === "" ? "" : ` node "${nodeId}"`;
    // The line has the id of the node, so its number in the list is left out.
    const inside = nodeId === "" ? path : path.replace(/^nodes\[\d+\]\.?/, "");
    const what = [inside, message].filter((part) => part !== "").join(": ");
    return safeText(`${place}${node}: ${what} [${reason}]`);
  });

/** For scripts. */
export const plainViolation = ({ path, reason, message, nodeId, line, column }: Violation) => ({
  path,
  reason,
  message,
  nodeId,
  ...(line === 0 ? {} : { line, column }),
});
