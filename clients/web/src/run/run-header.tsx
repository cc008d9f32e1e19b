// The head of a run's page: its status, its workflow, the state of the connection, and the buttons that cancel or repair it.

import { isFinal } from "@pawl/core/log/event";
import { type Run, RunKind } from "@pawl/proto/pawl/v1/run_pb";
import { type ReactNode, useRef, useState } from "react";
import { runPath, workflowPath } from "../route.ts";
import { Fact } from "../ui/text-block.tsx";
import { Link } from "../ui/navigate.tsx";
import { submitting, useNow } from "../ui/browser-hooks.ts";
import { StatusBadge } from "../ui/status-icon.tsx";
import { formatDuration, formatTime, wireMs } from "../ui/time.ts";
import type { Connection } from "./feed.ts";
import { RepairRun } from "./repair-run.tsx";
import { TopUpRun } from "./top-up-run.tsx";
import { usageText } from "./usage-text.ts";
import type { RunView } from "@pawl/core/log/view";
import { useAction } from "../api/action.ts";
import { writes } from "../api/gateway.ts";
import { FaultBox } from "../ui/fault-box.tsx";

const TICK_MS = 200;

interface Props {
  readonly run: Run;
  readonly name: string;
  readonly view: RunView;
  readonly connection: Connection;
}

export function RunHeader({ run, name, view, connection }: Props): ReactNode {
  const over = isFinal(view.status);
  const nowMs = useNow(TICK_MS, !over);
  const startedAt = view.startedAt ?? wireMs(run.createTime) ?? nowMs;
  const startAt = wireMs(run.startAt) ?? 0;
  const isEarly = view.status === "pending" && startAt > nowMs;
  const isTemporary = run.kind === RunKind.TEMPORARY;
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
        {view.pause?.waitingFor === "budget" && view.spending.budget !== undefined && (
          <TopUpRun runId={run.runId} budget={view.spending.budget} />
        )}
        {!over && <CancelRun runId={run.runId} />}
        {over && !isTemporary && run.quarantine === undefined && view.isRepairable && (
          <RepairRun
            runId={run.runId}
            hasFailures={view.hasFailures || view.status !== "completed"}
          />
        )}
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
        {run.repairOf !== "" && (
          <Fact name="Repairs">
            <Link to={runPath(run.repairOf)}>{run.repairOf}</Link>
          </Fact>
        )}
        {run.repairedBy.map((runId) => (
          <Fact key={runId} name="Repaired by">
            <Link to={runPath(runId)}>{runId}</Link>
          </Fact>
        ))}
        <Fact name="Started">{formatTime(startedAt)}</Fact>
        {isEarly && <Fact name="Waits until">{formatTime(startAt)}</Fact>}
        {!isEarly && <Fact name={over ? "Took" : "Running for"}>{formatDuration(tookMs)}</Fact>}
        {isTemporary && <Fact name="Kept">not after its end</Fact>}
        {usageText(view) !== "" && <Fact name="Used">{usageText(view)}</Fact>}
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

const TEXT = {
  connecting: "connecting",
  live: "live",
  ended: "ended",
  refused: "not connected",
} as const;

/** A dot and a word. The word changes with the state, so a reader does not need the colour. */
function ConnectionLight({ connection }: { readonly connection: Connection }): ReactNode {
  const text =
    connection.kind === "reconnecting" ? `reconnecting ${connection.tries}` : TEXT[connection.kind];
  return (
    <span
      className={`connection connection-${connection.kind}`}
      role="status"
      data-connection={connection.kind}
    >
      {text}
    </span>
  );
}

const REASON_LENGTH_MAX = 200;

function CancelRun({ runId }: { readonly runId: string }): ReactNode {
  const dialog = useRef<HTMLDialogElement>(null);
  const [reason, setReason] = useState("");
  const { isBusy, fault, act } = useAction();
  const cancel = (): Promise<void> =>
    act(async () => {
      await writes.runs.cancel(runId, { reason: reason.trim() });
      dialog.current?.close();
    });
  return (
    <>
      <button type="button" className="danger" onClick={() => dialog.current?.showModal()}>
        Cancel run
      </button>
      <dialog ref={dialog} aria-label="Cancel this run?">
        <form onSubmit={submitting(() => void cancel())}>
          <h2>Cancel this run?</h2>
          <p>What runs is aborted, what is pending never starts. This cannot be undone.</p>
          <input
            aria-label="Reason"
            placeholder="Reason, for people who read the log later (optional)"
            maxLength={REASON_LENGTH_MAX}
            value={reason}
            onChange={(event) => setReason(event.target.value)}
          />
          <FaultBox fault={fault} />
          <div className="dialog-actions">
            <button type="button" className="quiet" onClick={() => dialog.current?.close()}>
              Keep it running
            </button>
            <button type="submit" className="danger" disabled={isBusy}>
              {isBusy ? "Cancelling…" : "Cancel run"}
            </button>
          </div>
        </form>
      </dialog>
    </>
  );
}
