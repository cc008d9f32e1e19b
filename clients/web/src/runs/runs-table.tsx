// The table of runs. j and k move, Enter opens.

import type { Run } from "@pawl/proto/pawl/v1/run_pb";
import { RunKind } from "@pawl/proto/pawl/v1/run_pb";
import type { ReactNode } from "react";
import { useEffect, useRef, useState } from "react";
import { runPath, workflowPath } from "../route.ts";
import { runStatus } from "../ui/run-status.ts";
import { useKeys } from "../ui/keys.ts";
import { Link } from "../ui/link.tsx";
import { navigate } from "../ui/navigate.ts";
import { useNow } from "../ui/now.ts";
import { StatusBadge } from "../ui/status-icon.tsx";
import { formatAge, formatDuration, formatTime, wireMs } from "../ui/time.ts";
import { stepChoice } from "./filter.ts";

const TICK_MS = 1000;
const SHORT_ID = 8;

/** The end of an id: UUIDv7 begins with the time, so its end tells runs apart. */
export const shortId = (runId: string): string => runId.slice(-SHORT_ID);

function RunRow({
  run,
  nowMs,
  chosen,
}: {
  readonly run: Run;
  readonly nowMs: number;
  readonly chosen: boolean;
}): ReactNode {
  const row = useRef<HTMLTableRowElement>(null);
  useEffect(() => {
    if (chosen) row.current?.scrollIntoView({ block: "nearest" });
  }, [chosen]);
  const startedAt = wireMs(run.createTime) ?? nowMs;
  const endedAt = wireMs(run.endTime);
  return (
    <tr
      ref={row}
      className="run-row"
      data-run={run.runId}
      data-chosen={chosen || undefined}
      onClick={() => navigate(runPath(run.runId))}
    >
      <td className="run-status">
        <StatusBadge status={runStatus(run.status)} />
      </td>
      <td className="run-workflow" onClick={(event) => event.stopPropagation()}>
        {run.kind === RunKind.TEST ? (
          <span className="muted">test run</span>
        ) : (
          <Link to={workflowPath(run.workflowId)}>{run.workflowId}</Link>
        )}
      </td>
      <td className="run-id" onClick={(event) => event.stopPropagation()}>
        <Link to={runPath(run.runId)} className="mono">
          {shortId(run.runId)}
        </Link>
      </td>
      <td className="run-age" title={formatTime(startedAt)}>
        {formatAge(nowMs - startedAt)}
      </td>
      <td className="run-took number">{formatDuration((endedAt ?? nowMs) - startedAt)}</td>
      <td
        className={run.errorMessage === "" ? "run-note is-handled" : "run-note is-failed"}
        title={run.errorMessage}
      >
        {run.errorMessage !== "" ? run.errorMessage : run.hasFailures ? "failures handled" : ""}
      </td>
    </tr>
  );
}

/** Shows one page of runs. */
export function RunsTable({ runs }: { readonly runs: readonly Run[] }): ReactNode {
  const [chosen, setChosen] = useState(-1);
  const nowMs = useNow(TICK_MS, true);
  const open = (): void => {
    const run = runs[chosen];
    if (run !== undefined) navigate(runPath(run.runId));
  };
  useKeys({
    j: () => setChosen(stepChoice(chosen, 1, runs.length)),
    k: () => setChosen(stepChoice(chosen, -1, runs.length)),
    Enter: open,
  });
  return (
    <table className="runs">
      <thead>
        <tr>
          <th scope="col">Status</th>
          <th scope="col">Workflow</th>
          <th scope="col">Run</th>
          <th scope="col">Started</th>
          <th scope="col" className="number">
            Duration
          </th>
          <th scope="col">Failures</th>
        </tr>
      </thead>
      <tbody>
        {runs.map((run, index) => (
          <RunRow key={run.runId} run={run} nowMs={nowMs} chosen={index === chosen} />
        ))}
      </tbody>
    </table>
  );
}
