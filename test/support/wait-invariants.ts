// Invariants between the rows of waits for signals and the log, which alone decides.
import { roundOf } from "@pawl/core/log/execution";
import type { RunState } from "@pawl/core/log/state";

export type WaitRow = {
  readonly runId: string;
  readonly nodeId: string;
  readonly iteration: number;
  readonly name: string;
  readonly deadlineAt: number | null;
};

export const WAITS = `
select run_id as "runId", node_id as "nodeId", iteration, name,
  extract(epoch from deadline_at)::float8 * 1000 as "deadlineAt"
from pawl.signal_waits
where $1::uuid[] is null or run_id = any ($1)`;

/** Every row is a wait of the log with the same deadline, and the other way round. No signal is kept that a node waits for. */
export function checkWaits(
  state: RunState,
  rows: readonly WaitRow[],
  report: (seq: number, rule: string) => void,
): void {
  const line = (name: string, nodeId: string, iteration: number, deadlineAt: number | null) =>
    `${name} of ${nodeId}/${iteration} until ${deadlineAt === null ? "ever" : Math.floor(deadlineAt)}`;
  const open = rows.map(({ name, nodeId, iteration, deadlineAt }) =>
    line(name, nodeId, iteration, deadlineAt),
  );
  const waiting = state.nodes.flatMap((node, index) =>
    roundOf(node).flatMap(([iteration, { wait }]) => {
      const nodeId = state.graph.nodes[index]?.definition.id ?? "";
      return wait === undefined
        ? []
        : [line(wait.name, nodeId, iteration, wait.deadlineAt ?? null)];
    }),
  );
  for (const each of open.filter((one) => !waiting.includes(one)))
    report(state.lastSeq, `the wait ${each} is open and no node waits`);
  for (const each of waiting.filter((one) => !open.includes(one)))
    report(state.lastSeq, `a node waits without an open wait: ${each}`);
  for (const { name } of state.signals.values())
    if (state.waits.has(name)) report(state.lastSeq, `signal ${name} is kept and a node waits`);
}
