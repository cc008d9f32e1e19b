// Turns a draft into rows, and sends the statements that write them.

import { isFinal } from "@pawl/core/log/event";
import { executionAt } from "@pawl/core/log/execution";
import { factReferences } from "@pawl/core/log/references";
import type { AcceptedStart } from "@pawl/core/log/start";
import type { RunId } from "@pawl/core/name/ids";
import { claimLimitMs } from "@pawl/core/plan/overdue";
import { nodeIdAt } from "@pawl/core/plan/place";
import type { News, Transaction } from "@pawl/platform/store/tick/journal";
import type { NewLease } from "@pawl/platform/store/leases/leases";
import type { ValueRef } from "@pawl/platform/store/values/values";
import type { Draft } from "./draft.ts";
import { endsRun, newWebhooks, posts } from "./posts.ts";
import { projection, type RunDraft } from "./run-draft.ts";

/** Sends a draft. Returns the last seqs of the runs that it advances, once they are known. */
export function write(tx: Transaction, draft: Draft): Promise<ReadonlyMap<RunId, number>> {
  const { ofRuns } = draft;
  const starts = ofRuns.flatMap(({ start }) => start ?? []);
  if (draft.assumesPauses || endsRun(draft)) tx.assumePauses(draft.pauses.epoch);
  draft.fenced.send(tx);
  void tx.saveGraphs(draft.testGraphs);
  void tx.keepInputKeys(
    starts.flatMap(({ tenantId, runId, inputKey }) =>
      inputKey === undefined
        ? []
        : [{ tenantId, runId, inputKey: inputKey.key, ttlMs: inputKey.ttlMs }],
    ),
  );
  writeRepairs(tx, starts);
  void tx.keepMetadata(ofRuns.flatMap(metadataOf));
  void tx.insertRuns(
    ofRuns.flatMap((run) =>
      run.start === undefined ? [] : [{ ...run.start, ...projection(run) }],
    ),
  );
  const lastSeqs = tx.advance(
    ofRuns.flatMap((each) => {
      const { run, start } = each;
      const moved = { runId: run.state.runId, expectedVersion: run.version };
      return start === undefined ? [{ ...moved, ...projection(each) }] : [];
    }),
  );
  void tx.append(
    ofRuns.flatMap(({ run: { state }, facts }) =>
      facts.map((fact, index) => ({
        runId: state.runId,
        back: facts.length - 1 - index,
        fact,
      })),
    ),
  );
  void tx.closeLeases(draft.closed.filter(({ isUnwritten }) => !isUnwritten));
  void tx.openLeases(ofRuns.flatMap(leasesOf));
  void tx.moveDeadlines(
    ofRuns.flatMap(({ run: { state }, deadlineAt }) =>
      state.deadlineAt === deadlineAt ? [] : [{ runId: state.runId, deadlineAt: state.deadlineAt }],
    ),
  );
  void tx.referValues(ofRuns.flatMap(namedValues));
  const stopped = ofRuns.flatMap(({ run: { state }, facts }) => {
    const { runId, stop } = state;
    const isMarked = facts.length > 0 && isFinal(state.status);
    return stop === undefined || !isMarked ? [] : [{ runId, stop }];
  });
  void tx.nameAssistants(starts.flatMap(assistantOf));
  void tx.markStops(stopped);
  const moves = draft.threads.take();
  if (moves.threads.length > 0) void tx.moveThreads(moves);
  void tx.openApprovals(draft.approvals.opened);
  void tx.closeApprovals(draft.approvals.closed);
  void tx.openWaits(draft.waits.opened);
  void tx.closeWaits(draft.waits.closed);
  void tx.bury(draft.buried);
  void tx.dropJobs(draft.droppedJobs);
  if (draft.jobs.length > 0) void tx.enqueue(draft.jobs);
  const events = posts(draft);
  draft.postCount = events.length;
  void tx.keepWebhooks(newWebhooks(draft));
  void tx.post(events);
  continueStreams(tx, draft);
  return lastSeqs;
}

/** The stored values that the new events of a run name, each once. */
function namedValues({ run: { state }, facts }: RunDraft): readonly ValueRef[] {
  if (!state.hasReferences) return [];
  const named = new Set(facts.flatMap((fact) => factReferences(fact).map(({ sha256 }) => sha256)));
  return [...named].map((sha256) => ({ runId: state.runId, sha256 }));
}

/** The assistant of a new run. */
const assistantOf = ({ tenantId, runId, assistant }: AcceptedStart) =>
  assistant === undefined ? [] : [{ tenantId, runId, assistantId: assistant.assistantId }];

/** The metadata of a run, if the draft changes it. */
const metadataOf = ({ run: { state }, facts }: RunDraft) =>
  facts.some(({ type }) => type === "run.metadata.set")
    ? [{ runId: state.runId, metadata: JSON.stringify(state.metadata) }]
    : [];

/** The rows of runs that repair finished ones. */
function writeRepairs(tx: Transaction, starts: readonly AcceptedStart[]): void {
  const repairs = starts.flatMap(({ runId, repair }) =>
    repair === undefined ? [] : [{ ...repair, runId, repairOf: repair.runId }],
  );
  if (repairs.length === 0) return;
  void tx.linkRepairs(
    repairs.map(({ runId, repairOf, planDigest }) => ({ runId, repairOf, planDigest })),
  );
  void tx.copyEffects(
    repairs.flatMap(({ runId, repairOf, keptEffects }) =>
      keptEffects.map((kept) => ({ ...kept, runId, fromRunId: repairOf })),
    ),
  );
}

/** The bound of the deltas of a node. A larger index in the log is an executor's mistake. */
const DELTAS_MAX = 2 ** 30;

/** Reads the length of the streams of nodes that were claimed before. The index of a delta grows over all claims of a node. */
function continueStreams(tx: Transaction, draft: Draft): void {
  const again = draft.handOffs.filter(({ wasClaimed }) => wasClaimed);
  if (again.length === 0) return;
  const keys = again.map(({ run, nodeIndex, iteration }) => ({
    runId: run.state.runId,
    nodeId: nodeIdAt(run.state, nodeIndex),
    iteration,
  }));
  tx.nextDeltas(keys).then(
    (indexes) =>
      again.forEach((opened, at) => {
        const index = indexes[at] ?? 0;
        opened.firstDeltaIndex = index < DELTAS_MAX ? index : 0;
      }),
    // The commit fails with the same error.
    () => undefined,
  );
}

const leasesOf = ({ run, facts, opened }: RunDraft): NewLease[] =>
  [...opened.values()].map(({ nodeIndex, iteration, executor, factIndex }) => ({
    runId: run.state.runId,
    nodeId: nodeIdAt(run.state, nodeIndex),
    iteration,
    back: facts.length - 1 - factIndex,
    attempt: executionAt(run.state, nodeIndex, iteration)?.attempt ?? 1,
    executorId: executor.executorId,
    limitMs: claimLimitMs(run.state, nodeIndex, iteration),
  }));

/**
 * The runs with new events. The seqs are hints: a reader that finds more events reads them too. A run without a version begins in this
 * tick, and no reader knows its id yet. So the tick announces it only if it also ends in this tick.
 */
export function news(draft: Draft): News[] {
  const runs = draft.runs.flatMap(({ version, state: { runId, lastSeq, status } }) =>
    version === 0 && !isFinal(status) ? [] : [{ runId, lastSeq, ended: isFinal(status) }],
  );
  const streamed = new Set(draft.fenced.streamedRuns);
  for (const { runId } of runs) streamed.delete(runId);
  return [...runs, ...[...streamed].map((runId) => ({ runId, lastSeq: 0, ended: false }))];
}
