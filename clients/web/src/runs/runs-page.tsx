// The list of runs, live, beside the workflows that can be started.

import type { ReactNode } from "react";
import { listRuns, listWorkflows } from "../api/gateway.ts";
import { usePoll } from "../api/poll.ts";
import { runsPath } from "../route.ts";
import { FaultBox } from "../ui/fault-box.tsx";
import { Link } from "../ui/link.tsx";
import { useTitle } from "../ui/title.ts";
import { FilterBar } from "./filter-bar.tsx";
import { statusesOf } from "./filter.ts";
import { RunsTable } from "./runs-table.tsx";
import { StartPanel } from "./start-panel.tsx";

const RUNS_EVERY_MS = 2000;
const WORKFLOWS_EVERY_MS = 10_000;

interface Props {
  readonly status: string;
  readonly workflowId: string;
  readonly pageToken: string;
}

/** The front page. */
export function RunsPage({ status, workflowId, pageToken }: Props): ReactNode {
  useTitle("Runs");
  const filter = { statuses: statusesOf(status), workflowId, pageToken };
  const key = runsPath({ status, workflowId, pageToken });
  const runs = usePoll(key, RUNS_EVERY_MS, (signal) => listRuns(filter, signal));
  const workflows = usePoll("workflows", WORKFLOWS_EVERY_MS, listWorkflows);
  const page = runs.value;
  const isFiltered = status !== "" || workflowId !== "";
  return (
    <div className="columns">
      <section className="list" aria-label="Runs">
        <FilterBar
          key={workflowId}
          status={status}
          workflowId={workflowId}
          workflowIds={workflows.value?.map((workflow) => workflow.workflowId) ?? []}
        />
        {runs.fault !== undefined && <FaultBox fault={runs.fault} />}
        {page === undefined && runs.fault === undefined && (
          <p className="loading">Reading the runs…</p>
        )}
        {page !== undefined && page.runs.length > 0 && <RunsTable key={key} runs={page.runs} />}
        {page !== undefined && page.runs.length === 0 && <NoRuns isFiltered={isFiltered} />}
        <footer className="pager">
          {pageToken !== "" && <Link to={runsPath({ status, workflowId })}>← Newest</Link>}
          {page !== undefined && page.nextPageToken !== "" && (
            <Link to={runsPath({ status, workflowId, pageToken: page.nextPageToken })}>
              Older →
            </Link>
          )}
        </footer>
      </section>
      {workflows.value === undefined && workflows.fault === undefined ? (
        <aside className="start-panel loading">Reading the workflows…</aside>
      ) : (
        <StartPanel workflows={workflows.value ?? []} />
      )}
    </div>
  );
}

function NoRuns({ isFiltered }: { readonly isFiltered: boolean }): ReactNode {
  return (
    <div className="empty">
      <h2>{isFiltered ? "No run matches" : "No runs yet"}</h2>
      {isFiltered ? (
        <p>
          <Link to="/">Show all runs</Link>, or start one on the right.
        </p>
      ) : (
        <p>Start a workflow on the right; its run appears here at once.</p>
      )}
    </div>
  );
}
