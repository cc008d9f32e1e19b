// Counts of looks in one line: a shape and a number each.

import type { ReactNode } from "react";
import { StatusIcon, statusName } from "../ui/status-icon.tsx";
import type { Count } from "./tally.ts";

/** Draws the counts. */
export function TallyLine({ counts }: { readonly counts: readonly Count[] }): ReactNode {
  return (
    <span className="tally">
      {counts.map(({ look, count }) => (
        <span key={look} title={`${count} ${statusName(look)}`} data-tally={look}>
          <StatusIcon status={look} />
          {count}
          <span className="hidden"> {statusName(look)}</span>
        </span>
      ))}
    </span>
  );
}
