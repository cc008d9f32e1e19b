// The saved workflows.

import type { Workflow } from "@pawl/proto/pawl/v1/workflow_pb";
import type { ReactNode } from "react";
import { listWorkflows } from "../api/gateway.ts";
import { usePoll } from "../api/poll.ts";
import { runsPath, workflowPath } from "../route.ts";
import { NoWorkflows } from "../runs/start-panel.tsx";
import { FaultBox } from "../ui/fault-box.tsx";
import { Link } from "../ui/link.tsx";
import { formatTime, wireMs } from "../ui/time.ts";
import { useTitle } from "../ui/title.ts";

const EVERY_MS = 10_000;

/** The list of workflows. */
export function WorkflowsPage(): ReactNode {
  useTitle("Workflows");
  const { value, fault } = usePoll("workflows", EVERY_MS, listWorkflows);
  return (
    <section className="list" aria-label="Workflows">
      <h1>Workflows</h1>
      {fault !== undefined && <FaultBox fault={fault} />}
      {value === undefined && fault === undefined && (
        <p className="loading">Reading the workflows…</p>
      )}
      {value?.length === 0 && <NoWorkflows />}
      {value !== undefined && value.length > 0 && (
        <table className="runs workflows">
          <thead>
            <tr>
              <th scope="col">Workflow</th>
              <th scope="col">Title</th>
              <th scope="col" className="number">
                Version
              </th>
              <th scope="col" className="number">
                Nodes
              </th>
              <th scope="col">Changed</th>
              <th scope="col">
                <span className="hidden">Runs</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {value.map((workflow) => (
              <WorkflowRow key={workflow.workflowId} workflow={workflow} />
            ))}
          </tbody>
        </table>
      )}
    </section>
  );
}

function WorkflowRow({ workflow }: { readonly workflow: Workflow }): ReactNode {
  const changedAt = wireMs(workflow.updateTime);
  return (
    <tr>
      <td>
        <Link to={workflowPath(workflow.workflowId)} className="mono">
          {workflow.workflowId}
        </Link>
      </td>
      <td className="workflow-title" title={workflow.title}>
        {workflow.title}
      </td>
      <td className="number">
        <span className="cell-name">version </span>
        {workflow.version}
      </td>
      <td className="number">
        {workflow.nodeCount}
        <span className="cell-name"> nodes</span>
      </td>
      <td className="workflow-changed">{changedAt === undefined ? "" : formatTime(changedAt)}</td>
      <td>
        <Link to={runsPath({ workflowId: workflow.workflowId })}>Runs</Link>
      </td>
    </tr>
  );
}
