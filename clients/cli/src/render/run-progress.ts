// A run as it was read, in the form of the live tree: `run get` folds fans and shows delays with the functions of the tree. Pure.

import { type Timestamp, timestampMs } from "@bufbuild/protobuf/wkt";
import { type Json, nodeStatusName, runStatusName } from "@pawl/client";
import type { Run } from "@pawl/proto/pawl/v1/run_pb";
import { type Progress, createProgress, pendingNode } from "./progress-model.ts";

const msOf = (time: Timestamp | undefined): number | undefined =>
  time === undefined ? undefined : timestampMs(time);

/** The progress of a run and its nodes; iterations have none of their own. */
export function progressOfRun(run: Run, definition: Json | undefined): Progress {
  const progress = createProgress({ runId: run.runId, title: "", definition });
  progress.status = runStatusName(run.status);
  for (const node of run.nodes) {
    const [startMs, endMs] = [msOf(node.startTime), msOf(node.endTime)];
    progress.lastEventMs = Math.max(progress.lastEventMs, startMs ?? 0, endMs ?? 0);
    if (node.iteration > 0) continue;
    progress.nodes.set(node.nodeId, {
      ...pendingNode(),
      status: nodeStatusName(node.status),
      attempt: node.attempt,
      startMs,
      endMs,
      holdsUntilMs: msOf(node.releaseTime),
    });
  }
  return progress;
}
