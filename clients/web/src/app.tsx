// Which page is shown for which address.

import type { ReactNode } from "react";
import { ApprovalsPage } from "./approvals/approvals-page.tsx";
import type { Route } from "./route.ts";
import { RunPage } from "./run/run-page.tsx";
import { RunsPage } from "./runs/runs-page.tsx";
import { Link } from "./ui/link.tsx";
import { useRoute } from "./ui/navigate.ts";
import { Shell } from "./ui/shell.tsx";
import { WorkflowPage } from "./workflows/workflow-page.tsx";
import { WorkflowsPage } from "./workflows/workflows-page.tsx";

/** The console. */
export function App(): ReactNode {
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
