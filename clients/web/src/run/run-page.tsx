// One run: its graph, timeline and event log, all from one stream of events.

import type { RunWithDefinition } from "@pawl/client";
import { isFinal } from "@pawl/core/log/event";
import type { ReactNode } from "react";
import { useMemo, useState } from "react";
import type { Fault } from "../api/fault.ts";
import { getRun } from "../api/gateway.ts";
import { usePoll } from "../api/poll.ts";
import { readGraph } from "../graph/definition.ts";
import { isGroupId } from "../graph/fold.ts";
import { runPath } from "../route.ts";
import { FaultBox } from "../ui/fault-box.tsx";
import { Link } from "../ui/link.tsx";
import { navigate } from "../ui/navigate.ts";
import { useTitle } from "../ui/title.ts";
import { EventLog } from "./event-log.tsx";
import { GroupDrawer } from "./group-drawer.tsx";
import { NodeDrawer } from "./node-drawer.tsx";
import { RunFailure } from "./run-failure.tsx";
import { RunGraph } from "./run-graph.tsx";
import { RunHeader } from "./run-header.tsx";
import { RunWaiting } from "./run-waiting.tsx";
import { RunResult } from "./run-result.tsx";
import { TimelineChart } from "./timeline-chart.tsx";
import { useFolded } from "./use-folded.ts";
import { useLooks } from "./use-looks.ts";
import { useRunFeed } from "./use-run-feed.ts";
import { emptyNode } from "@pawl/core/log/view";

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
  const isUnknown = fault.reason === "RUN_NOT_FOUND" || fault.reason === "INPUT_INVALID";
  return (
    <>
      <h1 className="hidden">Run</h1>
      <FaultBox fault={isUnknown ? noRun(runId) : fault}>
        <p>
          <Link to="/">See all runs</Link>
        </p>
      </FaultBox>
    </>
  );
}

/** The fault of an id that no run has, valid or not. */
const noRun = (runId: string): Fault => ({
  reason: "RUN_NOT_FOUND",
  message: `There is no run ${runId}.`,
  next: "Check the id, or search for its beginning in the list of runs; a test run may have been deleted.",
  violations: [],
  retryable: false,
});

function OpenRun({ runId, openKey, got }: Props & { readonly got: RunWithDefinition }): ReactNode {
  const { view, rows, connection, clockSkewMs } = useRunFeed(runId);
  const graph = useMemo(() => readGraph(got.definition), [got]);
  const runLooks = useLooks(graph, view, clockSkewMs);
  const { looks } = runLooks;
  const [text, setText] = useState("");
  const { folded, foundIds } = useFolded(graph, looks, openKey.split("#")[0] ?? "", text);
  const name = got.run.workflowId || graph.title || "Test run";
  useTitle(`${name} ${view.status}`);
  const open = (key: string): void =>
    navigate(runPath(runId, key === openKey ? "" : key), "replace");
  const members = folded.groups.get(openKey);
  const isNode = openKey !== "" && !isGroupId(openKey);
  const opened = isNode ? (view.nodes.get(openKey) ?? emptyNode(openKey, 0)) : undefined;
  return (
    <div
      className="run-page"
      data-run-page={runId}
      data-events={rows.length}
      data-connection={connection.kind}
    >
      <RunHeader run={got.run} name={name} view={view} connection={connection} />
      {got.run.quarantine !== undefined && (
        <p className="outcome is-failed" role="status" data-quarantine>
          In quarantine: {got.run.quarantine.detail}. Nothing of this run moves until it is
          rechecked.
        </p>
      )}
      <RunFailure view={view} graph={graph} onOpen={open} />
      {!isFinal(view.status) && (
        <RunWaiting {...{ runId, graph, view, runLooks, openKey }} onOpen={open} />
      )}
      {connection.kind === "refused" && <FaultBox fault={connection.fault} />}
      <div className={opened === undefined && !members ? "run-main" : "run-main with-drawer"}>
        <div className="run-left">
          <RunGraph
            {...{ graph, folded, view, runLooks, openKey, text, foundIds }}
            onText={setText}
            onOpen={open}
          />
          <TimelineChart {...{ graph, view, looks, clockSkewMs, openKey }} onOpen={open} />
          <RunResult view={view} />
        </div>
        {opened !== undefined && (
          <NodeDrawer
            {...{ runId, graph, view, runLooks }}
            node={opened}
            onOpen={open}
            onClose={() => open(openKey)}
          />
        )}
        {members !== undefined && (
          <GroupDrawer {...{ members, looks }} onOpen={open} onClose={() => open(openKey)} />
        )}
      </div>
      <EventLog rows={rows} looks={looks} onOpen={open} />
    </div>
  );
}
