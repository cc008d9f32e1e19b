// A wide fan in a few lines. Branches of one fork that have one type and the same quiet state become a count. Branches that a person
// may want to look at (running, failed, retrying, waiting) keep a line of their own. Pure.

import type { NodeView } from "@pawl/core/log/view";
import { type Progress, nodeOf, shownStatus } from "./progress-model.ts";
import type { TreeRow } from "./tree.ts";

/** One row, or many of one kind. */
export type Entry =
  | { readonly kind: "row"; readonly row: TreeRow }
  | { readonly kind: "fold"; readonly fold: Fold };

export interface Fold {
  readonly status: string;
  /** From the first row to the last. */
  readonly rows: readonly TreeRow[];
}

/** A fan with fewer branches is drawn branch by branch. */
const FOLD_MIN = 8;
const LOUD = new Set(["running", "retrying", "waiting", "failed", "timed_out"]);

/** The rows in drawing order, with fans folded. */
export function foldRows(progress: Progress, nowMs: number): readonly Entry[] {
  const kindOf = ({ fork, type }: TreeRow): string => (fork === "" ? "" : `${fork}\n${type}`);
  const kinds = Map.groupBy(progress.rows, kindOf);
  const folds = Map.groupBy(progress.rows, (row) => {
    const kind = kindOf(row);
    if (kind === "" || (kinds.get(kind)?.length ?? 0) < FOLD_MIN) return "";
    const status = statusOf(progress, row, nowMs);
    return LOUD.has(status) ? "" : `${kind}\n${status}`;
  });
  const alone = new Set(folds.get(""));
  const first = new Map(
    [...folds.entries()].flatMap(([key, rows]) =>
      key === "" || rows[0] === undefined ? [] : [[rows[0], rows] as const],
    ),
  );
  return progress.rows.flatMap((row): Entry[] => {
    const rows = first.get(row);
    if (alone.has(row) || rows?.length === 1) return [{ kind: "row", row }];
    if (rows === undefined) return [];
    return [{ kind: "fold", fold: { status: statusOf(progress, row, nowMs), rows } }];
  });
}

const statusOf = (progress: Progress, { nodeId }: TreeRow, nowMs: number): string =>
  shownStatus(progress, nodeOf(progress, nodeId), nowMs);

export interface Span {
  readonly fastestMs: number;
  readonly slowestMs: number;
  readonly slowest: TreeRow;
}

/** How long the rows of a fold took; undefined while none of them has ended. */
export function spanOf(progress: Progress, { rows }: Fold): Span | undefined {
  const took = rows.flatMap((row) => {
    const ms = tookMs(nodeOf(progress, row.nodeId));
    return ms === undefined ? [] : [{ row, ms }];
  });
  const sorted = took.toSorted((one, other) => one.ms - other.ms);
  const [fastest, slowest] = [sorted[0], sorted.at(-1)];
  if (fastest === undefined || slowest === undefined) return undefined;
  return { fastestMs: fastest.ms, slowestMs: slowest.ms, slowest: slowest.row };
}

const tookMs = ({ startedAt, settledAt }: NodeView): number | undefined =>
  startedAt === undefined || settledAt === undefined ? undefined : settledAt - startedAt;
