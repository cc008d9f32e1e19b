// The list of runs, live, and the workflows that can be started: beside the list where there is room, else behind a button.

import type { ReactNode } from "react";
import { listRuns, listWorkflows } from "../api/gateway.ts";
import { usePoll } from "../api/poll.ts";
import { runsPath } from "../route.ts";
import { FaultBox } from "../ui/fault-box.tsx";
import { Link } from "../ui/link.tsx";
import { useMedia } from "../ui/media-query.ts";
import { useTitle } from "../ui/title.ts";
import { FilterBar } from "./filter-bar.tsx";
import { statusFilter } from "./filter.ts";
import { RunsTable } from "./runs-table.tsx";
import { StartDialog } from "./start-dialog.tsx";
import { StartPanel } from "./start-panel.tsx";

const RUNS_EVERY_MS = 2000;
const WORKFLOWS_EVERY_MS = 10_000;
/** Below it the table needs the whole width. */
const WIDE = "(min-width: 1200px)";

interface Props {
  readonly status: string;
  readonly workflowId: string;
  readonly query: string;
  readonly pageToken: string;
}

/** The front page. */
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
    listRuns({ statuses, workflowId, query, pageToken }, signal),
  );
  const page = runs.value;
  return (
    <>
      {runs.fault !== undefined && <FaultBox fault={runs.fault} />}
      {page === undefined && runs.fault === undefined && (
        <p className="loading">Reading the runs…</p>
      )}
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
      {query !== "" && (
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
