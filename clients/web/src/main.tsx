// The console: the frame of every page, and the table of addresses and pages.

import { type ReactNode, StrictMode, useEffect, useRef } from "react";
import { ApprovalsPage, openCount, useOpenApprovals } from "./approvals/approvals-page.tsx";
import type { Route } from "./route.ts";
import { QueuesPage } from "./queues/queues-page.tsx";
import { RunPage } from "./run/run-page.tsx";
import { RunsPage } from "./runs/runs-page.tsx";
import { ThreadPage } from "./threads/thread-page.tsx";
import { ThreadsPage } from "./threads/threads-page.tsx";
import { Link, useRoute } from "./ui/navigate.tsx";
import { WebhooksPage } from "./webhooks/webhooks-page.tsx";
import { WorkflowPage, WorkflowsPage } from "./workflows/workflows-page.tsx";
import { createRoot } from "react-dom/client";

function App(): ReactNode {
  const route = useRoute();
  return <Shell route={route}>{pageOf(route)}</Shell>;
}

function pageOf(route: Route): ReactNode {
  switch (route.page) {
    case "runs":
      return <RunsPage {...route} />;
    case "run":
      return <RunPage key={route.runId} runId={route.runId} openKey={route.nodeKey} />;
    case "approvals":
      return <ApprovalsPage />;
    case "threads":
      return <ThreadsPage {...route} />;
    case "thread":
      return <ThreadPage key={route.threadId} {...route} />;
    case "queues":
      return <QueuesPage {...route} />;
    case "webhooks":
      return <WebhooksPage {...route} />;
    case "workflows":
      return <WorkflowsPage />;
    case "workflow":
      return <WorkflowPage key={route.workflowId} workflowId={route.workflowId} />;
    case "lost":
      break;
  }
  return (
    <div className="empty" data-lost>
      <h1>Nothing is here</h1>
      <p>
        No page has the address <code>{route.path}</code>. See <Link to="/">the runs</Link> or{" "}
        <Link to="/workflows">the workflows</Link>.
      </p>
    </div>
  );
}

const root = document.querySelector("#root");
if (root === null) throw new Error("index.html has no #root");
createRoot(root).render(
  <StrictMode>
    <App />
  </StrictMode>,
);

function Mark(): ReactNode {
  return (
    <svg className="mark" viewBox="0 0 32 32" width="26" height="26" aria-hidden="true">
      <rect width="32" height="32" rx="7" />
      <path
        className="mark-wheel"
        d="M13 9l2.6 2.2 3.2-1.3.6 3.4 3.4.7-1.3 3.2 2.2 2.6-2.9 1.8.3 3.4-3.4.1-1.4 3.1-2.9-1.8-2.9 1.8-1.4-3.1-3.4-.1.3-3.4L3.1 20l2.2-2.6L4 14.2l3.4-.7.6-3.4 3.2 1.3z"
      />
      <circle cx="13.4" cy="18.6" r="3" />
      <path className="mark-pawl" d="M28 5 17.5 8.5l1.6 4.2" />
    </svg>
  );
}

function Shell({
  route,
  children,
}: {
  readonly route: Route;
  readonly children: ReactNode;
}): ReactNode {
  const waiting = openCount(useOpenApprovals().value);
  const nav = useRef<HTMLElement>(null);
  // On a phone the navigation scrolls, and the link of the present page must be in view.
  useEffect(() => {
    const link = nav.current?.querySelector("[aria-current]");
    link?.scrollIntoView({ block: "nearest", inline: "nearest" });
  }, [route.page]);
  const onRuns = route.page === "runs" || route.page === "run";
  const onThreads = route.page === "threads" || route.page === "thread";
  const onWorkflows = route.page === "workflows" || route.page === "workflow";
  return (
    <>
      <header className="top">
        <Link to="/" className="brand">
          <Mark />
          <span>Pawl</span>
        </Link>
        <nav aria-label="Console" ref={nav}>
          <Link to="/" current={onRuns}>
            Runs
          </Link>
          <Link to="/approvals" current={route.page === "approvals"}>
            Approvals
            {waiting !== "" && (
              <span className="nav-count" data-open-approvals={waiting}>
                {waiting}
                <span className="hidden"> open</span>
              </span>
            )}
          </Link>
          <Link to="/threads" current={onThreads}>
            Threads
          </Link>
          <Link to="/workflows" current={onWorkflows}>
            Workflows
          </Link>
          <Link to="/webhooks" current={route.page === "webhooks"}>
            Webhooks
          </Link>
          <Link to="/queues" current={route.page === "queues"}>
            Queues
          </Link>
        </nav>
      </header>
      <main>{children}</main>
    </>
  );
}
