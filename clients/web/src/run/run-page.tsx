// One run: its graph, timeline and event log, all from one stream of events.

import { readGraph, type RunWithDefinition } from "@pawl/client";
import { isFinal } from "@pawl/core/log/event";
import { type ReactNode, useMemo, useState } from "react";
import type { Fault } from "../api/fault.ts";
import { reads } from "../api/gateway.ts";
import { usePoll } from "../api/poll.ts";
import { isGroupId } from "../graph/fold.ts";
import { runPath } from "../route.ts";
import { FaultBox } from "../ui/fault-box.tsx";
import { Link, navigate } from "../ui/navigate.tsx";
import { useTitle } from "../ui/browser-hooks.ts";
import { EventLog } from "./event-log.tsx";
import { GroupDrawer, RunGraph } from "./run-graph.tsx";
import { NodeDrawer } from "./node-drawer.tsx";
import { RunFailure, RunResult, RunWaiting } from "./run-outcome.tsx";
import { RunStatePanel } from "./run-state.tsx";
import { RunWebhooks } from "../webhooks/run-webhooks.tsx";
import { RunUndone } from "./run-undone.tsx";
import { RunHeader } from "./run-header.tsx";
import { TimelineChart } from "./timeline-chart.tsx";
import { type RunScene, useFolded, useLooks, useRunFeed } from "./use-run.ts";
import { emptyNode, executionIn } from "@pawl/core/log/view";

interface Props {
  readonly runId: string;
  /** The node execution whose drawer is open. "" for none. */
  readonly openKey: string;
}

export function RunPage({ runId, openKey }: Props): ReactNode {
  const { value, fault } = usePoll(runId, 0, (signal) => reads.runs.get(runId, { signal }));
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
  const onOpen = (key: string): void =>
    navigate(runPath(runId, key === openKey ? "" : key), "replace");
  const onClose = (): void => onOpen(openKey);
  const scene: RunScene = { runId, graph, view, runLooks, openKey, onOpen };
  const members = folded.groups.get(openKey);
  const isNode = openKey !== "" && !isGroupId(openKey);
  const opened = isNode ? (executionIn(view, openKey) ?? emptyNode(openKey, 0)) : undefined;
  return (
    <div
      className="run-page"
      data-run-page={runId}
      data-events={rows.length}
      data-connection={connection.kind}
    >
      <RunHeader run={got.run} {...{ name, view, connection }} />
      {got.run.quarantine !== undefined && (
        <p className="outcome is-failed" role="status" data-quarantine>
          In quarantine: {got.run.quarantine.detail}. Nothing of this run moves until it is
          rechecked.
        </p>
      )}
      <RunFailure {...scene} />
      <RunUndone {...{ view, onOpen }} />
      {!isFinal(view.status) && <RunWaiting {...scene} />}
      {connection.kind === "refused" && <FaultBox fault={connection.fault} />}
      <div className={opened === undefined && !members ? "run-main" : "run-main with-drawer"}>
        <div className="run-left">
          <RunGraph {...scene} {...{ folded, text, foundIds }} onText={setText} />
          <TimelineChart {...scene} clockSkewMs={clockSkewMs} />
          <RunResult view={view} />
          <RunStatePanel {...{ runId, view }} />
          <RunWebhooks runId={runId} hasEnded={isFinal(view.status)} />
        </div>
        {opened !== undefined && <NodeDrawer {...scene} node={opened} onClose={onClose} />}
        {members !== undefined && <GroupDrawer {...{ members, looks, onOpen, onClose }} />}
      </div>
      <EventLog {...{ rows, looks, onOpen }} />
    </div>
  );
}
