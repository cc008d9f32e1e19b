// The iteration of a compensation. The compensation of an execution stands under the same node, and its iteration says which one it undoes.
// Clients read this file too, so it imports nothing.

/** The compensation of iteration n is iteration `UNDO + n`. No node has so many: 10,000 rounds of 10,000 items are a tenth of it. */
const UNDO = 1_000_000_000;

/** Whether an iteration is the compensation of another one. */
export const isUndo = (iteration: number): boolean => iteration >= UNDO;

/** The iteration that undoes another one. */
export const undoOf = (iteration: number): number => iteration + UNDO;

/** The iteration that this one undoes. */
export const undoneBy = (iteration: number): number => iteration - UNDO;

/** The name of an execution for people: `a`, `a#2`, or `undo a` for what undoes it. */
export function executionName(nodeId: string, iteration: number): string {
  const [before, own] = isUndo(iteration) ? ["undo ", undoneBy(iteration)] : ["", iteration];
  return `${before}${nodeId}${own === 0 ? "" : `#${own}`}`;
}
