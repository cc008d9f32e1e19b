// Dead letters in memory.

import { pairKey, type StagedRows } from "../memory/staging.ts";
import type { Tables } from "../memory/store.ts";
import type { RunRow } from "../runs/memory.ts";
import {
  type DeadLetterFilter,
  type DeadLetterRecord,
  type DeadLetters,
  type NewDeadLetter,
  type OpenDeadLetter,
  whyLeft,
} from "./dead-letters.ts";

export interface DeadLetterRow extends DeadLetterRecord {
  readonly tenantId: string;
  readonly closedRequestId: string | null;
}

export function buryLetter(
  { deadLetters, now: diedAt }: StagedRows,
  letter: NewDeadLetter,
  { tenantId, workflowId }: RunRow,
): void {
  const open = {
    state: "open",
    redriveRunId: null,
    closedAt: null,
    closedRequestId: null,
  } as const;
  deadLetters.set(letter.deadLetterId, { ...letter, tenantId, workflowId, diedAt, ...open });
}

/** Dead letters over the tables. */
export const createMemoryDeadLetters = (tables: Tables, now: () => number): DeadLetters => ({
  open: async (tenantId, filter, limit) => {
    const letters = oldestFirst(tables, tenantId)
      .filter((row) => row.state === "open" && isMeant(row, filter))
      .flatMap((letter): OpenDeadLetter[] => {
        const run = tables.runs.get(letter.runId);
        if (run === undefined) return [];
        const { workflowVersion, priority, endedAt } = run;
        const { workflowId } = letter;
        const hasWorkflow =
          workflowId !== null && tables.workflows.has(pairKey(tenantId, workflowId));
        const hasEnded = endedAt !== null;
        return [{ ...letter, workflowVersion, priority, hasEnded, hasWorkflow }];
      });
    const isLeft = (letter: OpenDeadLetter): boolean => whyLeft(letter) !== undefined;
    const moved = letters.filter((letter) => !isLeft(letter));
    return [...moved, ...letters.filter(isLeft)].slice(0, limit);
  },
  close: async (tenantId, ids, { requestId, redriveRunId }) => {
    const closed = ids.flatMap((id) => {
      const row = tables.deadLetters.get(id);
      return row?.tenantId === tenantId && row.state === "open" ? [row] : [];
    });
    const state = redriveRunId === null ? "discarded" : "redriven";
    const change = { state, redriveRunId, closedAt: now(), closedRequestId: requestId } as const;
    for (const row of closed) tables.deadLetters.set(row.deadLetterId, { ...row, ...change });
    return closed.map((row) => row.deadLetterId);
  },
  closedBy: async (tenantId, requestId) =>
    oldestFirst(tables, tenantId)
      .filter((row) => row.closedRequestId === requestId)
      .map(({ deadLetterId, redriveRunId }) => ({ deadLetterId, redriveRunId })),
  originOf: async (runId) => {
    const [first] = tables.log.of(runId);
    if (first?.type !== "run.started") return undefined;
    const { value: input = "null", payload: started } = first;
    return { input, started, metadata: tables.metadata.get(runId) };
  },
});

const oldestFirst = ({ deadLetters }: Tables, tenantId: string): DeadLetterRow[] =>
  [...deadLetters.values()]
    .filter((row) => row.tenantId === tenantId)
    .toSorted((a, b) => (a.deadLetterId < b.deadLetterId ? -1 : 1));

const isMeant = (letter: DeadLetterRecord, filter: DeadLetterFilter): boolean =>
  (filter.ids.length === 0 || filter.ids.includes(letter.deadLetterId)) &&
  (filter.workflowId === "" || letter.workflowId === filter.workflowId) &&
  (filter.nodeType === "" || letter.nodeType === filter.nodeType) &&
  (filter.beforeMs === undefined || letter.diedAt < filter.beforeMs);
