// The progress of a map or a loop in a few characters.

import type { NodeView } from "@pawl/core/log/view";

/** "n/m" of a map or a loop; only n of a loop that ended early; "" for any other node. */
export const iterationsText = ({ width, settledCount, status }: NodeView): string => {
  if (width === undefined) return "";
  const isEarly = status === "completed" && settledCount < width;
  return isEarly ? String(settledCount) : `${settledCount}/${width}`;
};
