// A turn of a conversation: what the user wrote, what the run answered, and the buttons for a run that has not ended or was interrupted.

import { isFinal } from "@pawl/core/log/event";
import { jsonOf, runStatusName, stopOf } from "@pawl/client";
import type { Run } from "@pawl/proto/pawl/v1/run_pb";
import type { ReactNode } from "react";
import { useAction } from "../api/action.ts";
import { writes } from "../api/gateway.ts";
import { runPath } from "../route.ts";
import { FaultBox } from "../ui/fault-box.tsx";
import { Link } from "../ui/navigate.tsx";
import { StatusBadge } from "../ui/status-icon.tsx";
import { formatTime, wireMs } from "../ui/time.ts";
import { useTurn } from "./use-turn.ts";
import { wordsOf } from "./words.ts";

interface Props {
  readonly run: Run;
}

/** How a stopped run is named: the status of both is `cancelled`. */
const STOPPED = {
  interrupt: "interrupted",
  rollback: "rolled back",
} as const;

export function Turn({ run }: Props): ReactNode {
  const { polled, draft } = useTurn(run);
  const status = runStatusName(run.status);
  const { stop } = stopOf(run.stop);
  const whole = polled.value;
  const asked = whole === undefined ? "" : wordsOf(jsonOf(whole.inputJson));
  const output = whole === undefined ? "" : wordsOf(jsonOf(whole.outputJson));
  const answered = output === "" ? draft : output;
  const startedMs = wireMs(run.createTime);
  return (
    <li
      className={`turn ${stop === "rollback" ? "is-rolled-back" : ""}`}
      data-turn={run.runId}
      data-status={status}
      data-stop={stop}
    >
      {asked !== "" && <p className="turn-asked">{asked}</p>}
      {answered !== "" && (
        <p className="turn-answered" data-live={!isFinal(status)}>
          {answered}
        </p>
      )}
      {run.errorMessage !== "" && <p className="turn-error">{run.errorMessage}</p>}
      <FaultBox fault={polled.fault} />
      <footer>
        <StatusBadge status={status} />
        {stop !== undefined && <span className="turn-stop">{STOPPED[stop]}</span>}
        {run.waitingReason !== "" && <span className="muted">{run.waitingReason}</span>}
        <Link to={runPath(run.runId)}>
          {startedMs === undefined ? "the run" : formatTime(startedMs)}
        </Link>
        <span className="spacer" />
        <Actions run={run} />
      </footer>
    </li>
  );
}

/** Stop and roll back a run that has not ended; continue one that was interrupted. */
function Actions({ run }: Props): ReactNode {
  const { isBusy, fault, act } = useAction();
  const button = (name: string, work: () => Promise<unknown>): ReactNode => (
    <button type="button" className="quiet" disabled={isBusy} onClick={() => void act(work)}>
      {name}
    </button>
  );
  const { runId } = run;
  const isOver = isFinal(runStatusName(run.status));
  const isInterrupted = stopOf(run.stop).stop === "interrupt";
  return (
    <>
      {!isOver && button("Interrupt", () => writes.runs.cancel(runId, { mode: "interrupt" }))}
      {!isOver && button("Roll back", () => writes.runs.cancel(runId, { mode: "rollback" }))}
      {isOver &&
        isInterrupted &&
        run.repairedBy.length === 0 &&
        button("Continue", () => writes.runs.resume(runId))}
      <FaultBox fault={fault} />
    </>
  );
}
