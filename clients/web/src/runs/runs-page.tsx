// The list of runs, live, and the workflows to start: beside the list, or behind a button on a narrow page.

import { type ReactNode, useEffect, useRef, useState } from "react";
import { listWorkflows, PAGE_SIZE, reads } from "../api/gateway.ts";
import { usePoll } from "../api/poll.ts";
import { runPath, runsPath, workflowPath } from "../route.ts";
import { PollState } from "../ui/fault-box.tsx";
import { Link, navigate } from "../ui/navigate.tsx";
import { useKeys, useMedia, useNow, useTitle } from "../ui/browser-hooks.ts";
import { FailureClassName } from "../run/failure-cause.tsx";
import { FilterBar } from "./filter-bar.tsx";
import { searchOf, statusFilter, stepChoice } from "./filter.ts";
import { StartDialog, StartPanel } from "./start-run.tsx";
import { type Run, RunStatus } from "@pawl/proto/pawl/v1/run_pb";
import { failureClassName, runStatusName } from "@pawl/client";
import { StatusBadge } from "../ui/status-icon.tsx";
import { TableHead } from "../ui/text-block.tsx";
import { formatAge, formatDuration, formatTime, wireMs } from "../ui/time.ts";

const RUNS_EVERY_MS = 2000;
const WORKFLOWS_EVERY_MS = 10_000;
/** In a narrower window the table needs the whole width. */
const WIDE = "(min-width: 1200px)";

interface Props {
  readonly status: string;
  readonly workflowId: string;
  readonly query: string;
  readonly pageToken: string;
}

export function RunsPage(props: Props): ReactNode {
  useTitle("Runs");
  const workflows = usePoll("workflows", WORKFLOWS_EVERY_MS, listWorkflows);
  const isWide = useMedia(WIDE);
  const isRead = workflows.value !== undefined || workflows.fault !== undefined;
  return (
    <div className={isWide ? "columns" : "columns is-narrow"}>
      <section className="list" aria-label="Runs">
        <div className="list-head">
          <h1>Runs</h1>
          {!isWide && <StartDialog workflows={workflows.value ?? []} />}
        </div>
        <FilterBar {...props} />
        <RunsList {...props} />
      </section>
      {isWide && isRead && <StartPanel workflows={workflows.value ?? []} />}
      {isWide && !isRead && <aside className="start-panel loading">Reading the workflows…</aside>}
    </div>
  );
}

function RunsList({ status, workflowId, query, pageToken }: Props): ReactNode {
  const statuses = statusFilter(status)?.statuses ?? [];
  const filter = { status, workflowId, query };
  const key = runsPath({ ...filter, pageToken });
  const runs = usePoll(key, RUNS_EVERY_MS, (signal) =>
    reads.runs.list({
      statuses,
      workflowId,
      ...searchOf(query),
      pageToken,
      pageSize: PAGE_SIZE,
      signal,
    }),
  );
  const page = runs.value;
  return (
    <>
      <PollState polled={runs} what="the runs" />
      {page !== undefined && page.runs.length > 0 && <RunsTable key={key} runs={page.runs} />}
      {page !== undefined && page.runs.length === 0 && (
        <NoRuns isFiltered={key !== "/"} query={query} />
      )}
      <footer className="pager">
        {pageToken !== "" && <Link to={runsPath(filter)}>← Newest</Link>}
        {page !== undefined && page.nextPageToken !== "" && (
          <Link to={runsPath({ ...filter, pageToken: page.nextPageToken })}>Older →</Link>
        )}
      </footer>
    </>
  );
}

function NoRuns({
  isFiltered,
  query,
}: {
  readonly isFiltered: boolean;
  readonly query: string;
}): ReactNode {
  return (
    <div className="empty" data-no-runs>
      <h2>{isFiltered ? "No run matches" : "No runs yet"}</h2>
      {query !== "" && "filter" in searchOf(query) && (
        <p>
          The filter <strong>{query}</strong> finds no run.
        </p>
      )}
      {query !== "" && "query" in searchOf(query) && (
        <p>
          No workflow id, title word or run id begins with <strong>{query}</strong>.
        </p>
      )}
      {isFiltered ? (
        <p>
          <Link to="/">Show all runs</Link>, or start one.
        </p>
      ) : (
        <p>Start a workflow; its run appears here at once.</p>
      )}
    </div>
  );
}

const TICK_MS = 1000;
const SHORT_ID = 8;

/** The end of an id: UUIDv7 begins with the time, so only its end differs. */
const shortId = (runId: string): string => runId.slice(-SHORT_ID);

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
        <StatusBadge status={runStatusName(run.status)} />
      </td>
      <td className="run-workflow" onClick={(event) => event.stopPropagation()}>
        {run.workflowId === "" ? (
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
        <FailureClassName failureClass={failureClassName(run.failureClass)} /> {noteOf(run, nowMs)}
      </td>
    </tr>
  );
}

function noteOf({ errorMessage, hasFailures, status, startAt }: Run, nowMs: number): string {
  if (errorMessage !== "") return errorMessage;
  const waitMs = (wireMs(startAt) ?? 0) - nowMs;
  if (status === RunStatus.PENDING && waitMs > 0) return `starts in ${formatDuration(waitMs)}`;
  return hasFailures ? "failures handled" : "";
}

function RunsTable({ runs }: { readonly runs: readonly Run[] }): ReactNode {
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
      <TableHead
        names={["Status", "Workflow", "Run", "Started", "Duration", "Failures"]}
        numbers={["Duration"]}
      />
      <tbody>
        {runs.map((run, index) => (
          <RunRow key={run.runId} run={run} nowMs={nowMs} chosen={index === chosen} />
        ))}
      </tbody>
    </table>
  );
}
