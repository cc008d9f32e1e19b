// A run as GetRun returns it, in the form of the live tree: `run get` folds fans and shows delays with the functions of the tree. Pure.

import { type Timestamp, timestampMs } from "@bufbuild/protobuf/wkt";
import { type Json, nodeStatusName, runStatusName } from "@pawl/client";
import type { NodeStatus, RunStatus } from "@pawl/core/log/event";
import { EMPTY_VIEW, type NodeView, type RunView, emptyNode } from "@pawl/core/log/view";
import type { NodeRun, Run } from "@pawl/proto/pawl/v1/run_pb";
import { type Progress, createProgress } from "./progress-model.ts";

const msOf = (time: Timestamp | undefined): number | undefined =>
  time === undefined ? undefined : timestampMs(time);

/** The progress of a run and its nodes; iterations have none of their own. */
export function progressOfRun(run: Run, definition: Json | undefined): Progress {
  const view = viewOfRun(run);
  return {
    ...createProgress({ runId: run.runId, title: "", definition }),
    view: () => view,
  };
}

function viewOfRun({ status, nodes }: Run): RunView {
  const times = nodes.flatMap(({ startTime, endTime }) => [msOf(startTime), msOf(endTime)]);
  const whole = nodes.filter(({ iteration }) => iteration === 0);
  return {
    ...EMPTY_VIEW,
    status: runStatusName(status) as RunStatus, // the enum has the words of the union
    lastAt: times.reduce<number>((last, ms = 0) => Math.max(last, ms), 0),
    nodes: new Map(whole.map((node) => [node.nodeId, nodeView(node)])),
  };
}

const nodeView = ({
  nodeId,
  status,
  attempt,
  startTime,
  endTime,
  releaseTime,
}: NodeRun): NodeView => ({
  ...emptyNode(nodeId, 0),
  status: nodeStatusName(status) as NodeStatus, // the enum has the words of the union
  attempt,
  startedAt: msOf(startTime),
  settledAt: msOf(endTime),
  releaseAt: msOf(releaseTime),
});
