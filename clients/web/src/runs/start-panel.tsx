// The saved workflows, each ready to start.

import type { Workflow } from "@pawl/proto/pawl/v1/workflow_pb";
import type { ReactNode } from "react";
import { workflowPath } from "../route.ts";
import { Link } from "../ui/link.tsx";
import { StartForm } from "./start-form.tsx";

/** Cards of workflows with a start button each. */
export function StartPanel({ workflows }: { readonly workflows: readonly Workflow[] }): ReactNode {
  return (
    <aside className="start-panel" aria-label="Start a workflow">
      <h2>Start a workflow</h2>
      {workflows.length === 0 && <NoWorkflows />}
      <ul>
        {workflows.map((workflow) => (
          <li key={workflow.workflowId} className="card">
            <Link to={workflowPath(workflow.workflowId)} className="card-title">
              {workflow.title === "" ? workflow.workflowId : workflow.title}
            </Link>
            <p className="card-note">
              <span className="mono">{workflow.workflowId}</span> · {workflow.nodeCount} nodes
            </p>
            <StartForm workflowId={workflow.workflowId} />
          </li>
        ))}
      </ul>
    </aside>
  );
}

/** What to do where no workflow is saved yet. */
export function NoWorkflows(): ReactNode {
  return (
    <div className="empty">
      <p>No workflow is saved yet. Save one from a file:</p>
      <pre>./pawl workflow apply -f hello.yaml</pre>
    </div>
  );
}
