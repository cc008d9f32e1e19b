// Why the scheduler refuses the labels that a handler adds. A name that cannot be a label fails the node, because the data would lose it.

import { LIMITS } from "@pawl/core/data/limits";
import { isTaintLabel, LABEL_RULE } from "@pawl/core/name/taint-label";

/** So much of a wrong label is in the message about it. */
const LABEL_SHOWN = 64;

/** Undefined if all of them can be labels. */
export function labelsFault(labels: readonly string[]): string | undefined {
  const wrong = labels.find((label) => !isTaintLabel(label));
  if (wrong !== undefined) {
    const shown = wrong.slice(0, LABEL_SHOWN).toWellFormed().replaceAll("\0", "");
    return `${JSON.stringify(shown)} is no label; a label is ${LABEL_RULE}`;
  }
  return labels.length > LIMITS.taintLabels ? `at most ${LIMITS.taintLabels} labels` : undefined;
}
