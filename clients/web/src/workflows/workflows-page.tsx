// The saved workflows, and the page of one workflow: its graph, its definition as text, and the form that starts it.

import type { Workflow } from "@pawl/proto/pawl/v1/workflow_pb";
import { type ReactNode, useMemo } from "react";
import { listWorkflows, reads } from "../api/gateway.ts";
import { usePoll } from "../api/poll.ts";
import { runsPath, workflowPath } from "../route.ts";
import { NoWorkflows, StartForm } from "../runs/start-run.tsx";
import { FaultBox, PollState } from "../ui/fault-box.tsx";
import { Link } from "../ui/navigate.tsx";
import { CodeBlock, Fact, TableHead } from "../ui/text-block.tsx";
import { formatTime, wireMs } from "../ui/time.ts";
import { useTitle } from "../ui/browser-hooks.ts";
import { DailyBudgets } from "./daily-budget.tsx";
import { jsonOf, readGraph } from "@pawl/client";
import { foldGraph } from "../graph/fold.ts";
import { LazyGraph } from "../graph/lazy-graph.tsx";

const EVERY_MS = 10_000;

export function WorkflowsPage(): ReactNode {
  useTitle("Workflows");
  const polled = usePoll("workflows", EVERY_MS, listWorkflows);
  const { value } = polled;
  return (
    <section className="list" aria-label="Workflows">
      <h1>Workflows</h1>
      <PollState polled={polled} what="the workflows" />
      {value?.length === 0 && <NoWorkflows />}
      {value !== undefined && value.length > 0 && (
        <table className="runs workflows">
          <TableHead
            names={["Workflow", "Title", "Version", "Nodes", "Changed"]}
            numbers={["Version", "Nodes"]}
            hidden="Runs"
          />
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

export function WorkflowPage({ workflowId }: { readonly workflowId: string }): ReactNode {
  useTitle(workflowId);
  const { value, fault } = usePoll(workflowId, EVERY_MS, (signal) =>
    reads.workflows.get(workflowId, { signal }),
  );
  return (
    <>
      {fault !== undefined && (
        <FaultBox fault={fault}>
          {value === undefined && <h1 className="hidden">Workflow</h1>}
          <p>
            <Link to="/workflows">See all workflows</Link>
          </p>
        </FaultBox>
      )}
      {value === undefined && fault === undefined && (
        <p className="loading">Reading the workflow…</p>
      )}
      {value !== undefined && <OpenWorkflow workflow={value} />}
    </>
  );
}

function OpenWorkflow({ workflow }: { readonly workflow: Workflow }): ReactNode {
  const { definitionDigest, workflowId } = workflow;
  const definition = useMemo(() => jsonOf(workflow.definitionJson), [definitionDigest]);
  const text = useMemo(() => JSON.stringify(definition, null, 2) ?? "", [definition]);
  const graph = useMemo(() => foldGraph(readGraph(definition), new Set()), [definition]);
  const changedAt = wireMs(workflow.updateTime);
  return (
    <div className="run-page">
      <header className="run-head">
        <div className="run-title">
          <h1>
            {workflow.title === "" ? workflowId : workflow.title}
            <span className="version">v{workflow.version}</span>
          </h1>
          <span className="spacer" />
          <Link to={runsPath({ workflowId })} className="button quiet">
            Its runs
          </Link>
        </div>
        <dl className="facts">
          <Fact name="Workflow" mono>
            {workflowId}
          </Fact>
          <Fact name="Changed">{changedAt === undefined ? "" : formatTime(changedAt)}</Fact>
          <Fact name="Digest" mono copy={definitionDigest} copied="digest">
            {definitionDigest.slice(0, 16)}…
          </Fact>
        </dl>
        <StartForm workflowId={workflowId} />
      </header>
      <DailyBudgets workflowId={workflowId} />
      <section className="panel graph-panel" aria-label="Graph">
        <LazyGraph graph={graph} />
      </section>
      <section className="panel definition" aria-label="Definition">
        <h2>Definition</h2>
        <CodeBlock text={text} what="definition" empty="This version has no text." />
      </section>
    </div>
  );
}
