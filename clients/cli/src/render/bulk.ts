// A bulk as lines: what it does, a bar of its progress, and why runs failed or were skipped. Pure.

import { bulkActionName, bulkOutcomeName, bulkStateName } from "@pawl/client";
import type { Bulk, BulkCount } from "@pawl/proto/pawl/v1/bulk_service_pb";
import { type Canvas, paintLine, type Span } from "./spans.ts";

const BAR_WIDTH = 30;

export function bulkLines(
  bulk: Bulk,
  reasons: readonly BulkCount[],
  canvas: Canvas,
): readonly string[] {
  const { bulkId, action, state, stateReason, filter } = bulk;
  const why = stateReason === "" ? "" : `: ${stateReason}`;
  const lines: (readonly Span[])[] = [
    [{ text: `${bulkId} ` }, { text: `${bulkActionName(action)} ${filter}`, style: "dim" }],
    [{ text: `${barOf(bulk)} ${countsOf(bulk)}` }],
    [{ text: `${bulkStateName(state)}${why}` }],
    ...reasons.map(({ outcome, reason, count }) => [
      { text: `  ${count} ${bulkOutcomeName(outcome)}: ${reason}` },
    ]),
  ];
  return lines.map((line) => paintLine(line, canvas));
}

const countsOf = ({ matched, done, failed, skipped }: Bulk): string =>
  `${done + failed + skipped}/${matched}  ${done} done, ${failed} failed, ${skipped} skipped`;

function barOf({ matched, done, failed, skipped }: Bulk): string {
  const handled = done + failed + skipped;
  const filled = matched === 0 ? BAR_WIDTH : Math.floor((handled * BAR_WIDTH) / matched);
  return `[${"#".repeat(filled)}${".".repeat(BAR_WIDTH - filled)}]`;
}

/** A count for scripts. */
export const partsOf = ({ outcome, reason, count }: BulkCount) => ({
  outcome: bulkOutcomeName(outcome),
  reason,
  count,
});
