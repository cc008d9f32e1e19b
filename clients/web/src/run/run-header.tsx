// The head of a run's page: its status, its workflow, the state of the connection, and the button that cancels it.

import { isFinal } from "@pawl/core/log/event";
import type { Run } from "@pawl/proto/pawl/v1/run_pb";
import type { ReactNode } from "react";
import { runPath, workflowPath } from "../route.ts";
import { CopyButton } from "../ui/copy-button.tsx";
import { Link } from "../ui/link.tsx";
import { useNow } from "../ui/now.ts";
import { StatusBadge } from "../ui/status-icon.tsx";
import { formatDuration, formatTime, wireMs } from "../ui/time.ts";
import { CancelRun } from "./cancel-run.tsx";
import { ConnectionLight } from "./connection-light.tsx";
import type { Connection } from "./feed.ts";
import type { RunView } from "@pawl/core/log/view";

const TICK_MS = 200;

interface Props {
  readonly run: Run;
  readonly name: string;
  readonly view: RunView;
  readonly connection: Connection;
}

/** Shows the run's status and facts. */
export function RunHeader({ run, name, view, connection }: Props): ReactNode {
  const over = isFinal(view.status);
  const nowMs = useNow(TICK_MS, !over);
  const startedAt = view.startedAt ?? wireMs(run.createTime) ?? nowMs;
  const tookMs = (view.endedAt ?? Math.max(nowMs, startedAt)) - startedAt;
  return (
    <header className="run-head">
      <div className="run-title">
        <h1>
          {run.workflowId === "" ? name : <Link to={workflowPath(run.workflowId)}>{name}</Link>}
          {run.workflowVersion > 0 && <span className="version">v{run.workflowVersion}</span>}
        </h1>
        <StatusBadge status={view.status} />
        {view.hasFailures && view.status === "completed" && <StatusNote />}
        <span className="spacer" />
        {connection.kind !== "ended" && <ConnectionLight connection={connection} />}
        {!over && <CancelRun runId={run.runId} />}
      </div>
      <dl className="facts">
        <Fact name="Run" mono copy={run.runId}>
          {run.runId}
        </Fact>
        {run.parentRunId !== "" && (
          <Fact name="Started by node">
            <Link to={runPath(run.parentRunId, run.parentNodeId)}>{run.parentNodeId}</Link>
          </Fact>
        )}
        <Fact name="Started">{formatTime(startedAt)}</Fact>
        <Fact name={over ? "Took" : "Running for"}>{formatDuration(tookMs)}</Fact>
        {run.traceId !== "" && (
          <Fact name="Trace" mono copy={run.traceId}>
            {run.traceId}
          </Fact>
        )}
      </dl>
    </header>
  );
}

/** The run completed although something in it failed. */
const StatusNote = (): ReactNode => <span className="badge is-handled">failures handled</span>;

interface FactProps {
  readonly name: string;
  readonly mono?: boolean;
  readonly copy?: string;
  readonly children: ReactNode;
}

function Fact({ name, mono, copy, children }: FactProps): ReactNode {
  return (
    <div>
      <dt>{name}</dt>
      <dd className={mono === true ? "mono" : undefined}>
        <span>{children}</span>
        {copy !== undefined && <CopyButton text={copy} what={`${name.toLowerCase()} id`} />}
      </dd>
    </div>
  );
}
