// One workflow: its graph, its definition as text, and the way to start it.

import type { Workflow } from "@pawl/proto/pawl/v1/workflow_pb";
import type { ReactNode } from "react";
import { useMemo } from "react";
import { getWorkflow } from "../api/gateway.ts";
import { usePoll } from "../api/poll.ts";
import { readGraph } from "../graph/definition.ts";
import { foldGraph } from "../graph/fold.ts";
import { LazyGraph } from "../graph/lazy-graph.tsx";
import { runsPath } from "../route.ts";
import { jsonText, parseJson, prettyJson } from "../ui/json-text.ts";
import { StartForm } from "../runs/start-form.tsx";
import { CodeBlock } from "../ui/code-block.tsx";
import { CopyButton } from "../ui/copy-button.tsx";
import { FaultBox } from "../ui/fault-box.tsx";
import { Link } from "../ui/link.tsx";
import { formatTime, wireMs } from "../ui/time.ts";
import { useTitle } from "../ui/title.ts";

const EVERY_MS = 10_000;

/** The page of one workflow. */
export function WorkflowPage({ workflowId }: { readonly workflowId: string }): ReactNode {
  useTitle(workflowId);
  const { value, fault } = usePoll(workflowId, EVERY_MS, (signal) =>
    getWorkflow(workflowId, signal),
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
  const json = jsonText(workflow.definitionJson);
  const text = useMemo(() => prettyJson(json), [json]);
  const graph = useMemo(() => foldGraph(readGraph(parseJson(json)), new Set()), [json]);
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
          <div>
            <dt>Workflow</dt>
            <dd className="mono">{workflowId}</dd>
          </div>
          <div>
            <dt>Changed</dt>
            <dd>{changedAt === undefined ? "" : formatTime(changedAt)}</dd>
          </div>
          <div>
            <dt>Digest</dt>
            <dd className="mono">
              <span>{definitionDigest.slice(0, 16)}…</span>
              <CopyButton text={definitionDigest} what="digest" />
            </dd>
          </div>
        </dl>
        <StartForm workflowId={workflowId} />
      </header>
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
