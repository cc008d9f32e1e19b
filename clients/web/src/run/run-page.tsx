// One run: its graph, timeline and event log, all from one stream of events.

import type { RunWithDefinition } from "@pawl/client";
import { isFinal } from "@pawl/core/log/event";
import type { ReactNode } from "react";
import { useMemo } from "react";
import { getRun } from "../api/gateway.ts";
import { usePoll } from "../api/poll.ts";
import { readGraph } from "../graph/definition.ts";
import { LazyGraph } from "../graph/lazy-graph.tsx";
import { runPath } from "../route.ts";
import { FaultBox } from "../ui/fault-box.tsx";
import { Link } from "../ui/link.tsx";
import { navigate } from "../ui/navigate.ts";
import { useTitle } from "../ui/title.ts";
import { EventLog } from "./event-log.tsx";
import { NodeDrawer } from "./node-drawer.tsx";
import { nodeInput } from "./node-input.ts";
import { RunHeader } from "./run-header.tsx";
import { RunWaiting } from "./run-waiting.tsx";
import { RunResult } from "./run-result.tsx";
import { TimelineChart } from "./timeline-chart.tsx";
import { useRunFeed } from "./use-run-feed.ts";
import { emptyNode } from "./view.ts";

interface Props {
  readonly runId: string;
  /** The node execution whose drawer is open; "" for none. */
  readonly openKey: string;
}

/** The page of one run. */
export function RunPage({ runId, openKey }: Props): ReactNode {
  const { value, fault } = usePoll(runId, 0, (signal) => getRun(runId, signal));
  if (value !== undefined) return <OpenRun runId={runId} openKey={openKey} got={value} />;
  if (fault === undefined) return <p className="loading">Reading the run…</p>;
  return (
    <FaultBox fault={fault}>
      <p>
        <Link to="/">See all runs</Link>
      </p>
    </FaultBox>
  );
}

function OpenRun({ runId, openKey, got }: Props & { readonly got: RunWithDefinition }): ReactNode {
  const { view, connection, clockSkewMs } = useRunFeed(runId);
  const graph = useMemo(() => readGraph(got.definition), [got]);
  const name = got.run.workflowId || graph.title || "Test run";
  useTitle(`${name} ${view.status}`);
  const open = (key: string): void =>
    navigate(runPath(runId, key === openKey ? "" : key), "replace");
  const opened = openKey === "" ? undefined : (view.nodes.get(openKey) ?? emptyNode(openKey, 0));
  return (
    <div className="run-page" data-run-page={runId} data-events={view.rows.length}>
      <RunHeader run={got.run} name={name} view={view} connection={connection} />
      {got.run.quarantine !== undefined && (
        <p className="outcome is-failed" role="status" data-quarantine>
          In quarantine: {got.run.quarantine.detail}. Nothing of this run moves until it is
          rechecked.
        </p>
      )}
      {!isFinal(view.status) && <RunWaiting {...{ runId, view, openKey }} onOpen={open} />}
      {connection.kind === "refused" && <FaultBox fault={connection.fault} />}
      <div className={opened === undefined ? "run-main" : "run-main with-drawer"}>
        <div className="run-left">
          <section className="panel graph-panel" aria-label="Graph">
            <LazyGraph graph={graph} nodes={view.nodes} openKey={openKey} onOpen={open} />
          </section>
          <TimelineChart view={view} clockSkewMs={clockSkewMs} openKey={openKey} onOpen={open} />
          <RunResult view={view} />
        </div>
        {opened !== undefined && (
          <NodeDrawer
            runId={runId}
            node={opened}
            input={nodeInput(graph, view, opened.nodeId)}
            drawn={graph.nodes.find((node) => node.id === opened.nodeId)}
            onClose={() => open(openKey)}
          />
        )}
      </div>
      <EventLog rows={view.rows} onOpen={open} />
    </div>
  );
}
