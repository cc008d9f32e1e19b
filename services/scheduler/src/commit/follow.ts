// Puts the consequences of a drafted fact into the lists of the draft.

import { unreachable } from "@pawl/core/fault/invariant";
import type { Fact } from "@pawl/core/log/event";
import { executionAt } from "@pawl/core/log/execution";
import { executorId } from "@pawl/core/name/ids";
import type { Consequence } from "@pawl/core/plan/consequences";
import type { DroppedJob, NewJob } from "@pawl/platform/queue/queue";
import type { ClosedApproval, NewApproval } from "@pawl/platform/store/approvals/approvals";
import type { NewDeadLetter } from "@pawl/platform/store/dead-letters/dead-letters";
import type { NewWait, WaitKey } from "@pawl/platform/store/signals/signals";
import { uuidV7 } from "../run-id.ts";
import type { CachedRun } from "./cache.ts";
import {
  executionKey,
  jobKeyOf,
  type ClosedClaim,
  type Execution,
  type RunDraft,
} from "./run-draft.ts";
import { NO_NODE, pendingKey, type SlotChanges, startJob } from "./slots.ts";

/** The lists of a draft that consequences change. */
interface Lists {
  readonly ready: Execution[];
  readonly closed: ClosedClaim[];
  readonly orphans: Extract<Consequence, { kind: "cancel_child" }>[];
  readonly endedChildren: CachedRun[];
  readonly leavers: CachedRun[];
  readonly askers: CachedRun[];
  readonly slots: SlotChanges;
  readonly approvals: { readonly opened: NewApproval[]; readonly closed: ClosedApproval[] };
  readonly waits: { readonly opened: NewWait[]; readonly closed: WaitKey[] };
  readonly buried: NewDeadLetter[];
  readonly jobs: NewJob[];
  readonly droppedJobs: DroppedJob[];
  readonly now: number;
  dropJobs(run: CachedRun, executions: readonly Omit<Execution, "run">[]): void;
}

/** Why a compensation is a dead letter. */
const UNDO_FAILED = "compensation_failed";

/** Stands for the executor of an execution that was never claimed. */
const NO_EXECUTOR = executorId("00000000-0000-0000-0000-000000000000");

/** Drafts one consequence of `fact`. */
export function follow(lists: Lists, draft: RunDraft, fact: Fact, consequence: Consequence): void {
  const { run } = draft;
  const { iteration } = fact;
  const { runId } = run.state;
  const place = { nodeId: fact.nodeId || NO_NODE, iteration };
  switch (consequence.kind) {
    case "place":
      lists.ready.push({ run, nodeIndex: consequence.nodeIndex, iteration });
      return;
    case "close_claim": {
      const { nodeIndex, epoch, isLost } = consequence;
      const isUnwritten = draft.opened.delete(executionKey(nodeIndex, iteration));
      lists.closed.push({ runId, ...place, epoch, isLost, isUnwritten });
      return;
    }
    case "drop_job": {
      const { nodeIndex, queuedSeq } = consequence;
      // An execution that this draft queued has no job yet.
      if (queuedSeq <= draft.committedSeq) lists.dropJobs(run, [{ nodeIndex, iteration }]);
      return;
    }
    case "await_start":
      lists.jobs.push(startJob(run, lists.now));
      return;
    case "drop_run_job":
      lists.droppedJobs.push(pendingKey(run));
      return;
    case "ask_run_slots":
      return lists.slots.askRun(run);
    case "free_slots":
      return lists.slots.free(run, place, consequence.limits);
    case "count_start":
      return lists.slots.count(run, place, consequence.limits);
    case "open_approval":
      lists.approvals.opened.push({ runId, ...place, ...consequence.question });
      return;
    case "close_approval":
      lists.approvals.closed.push(consequence.answer);
      return;
    case "open_wait": {
      const { name, timeoutMs } = consequence;
      lists.waits.opened.push({ runId, ...place, name, timeoutMs });
      return;
    }
    case "close_wait":
      lists.waits.closed.push({ runId, ...place });
      return;
    case "cancel_child":
      lists.orphans.push(consequence);
      return;
    case "bury":
      bury(
        lists,
        { run, nodeIndex: consequence.nodeIndex, iteration },
        UNDO_FAILED,
        consequence.why,
      );
      return;
    case "leave_thread":
      lists.leavers.push(run);
      return;
    case "offer_thread":
      return void lists.askers.push(run);
    case "tell_parent":
      lists.endedChildren.push(run);
      return;
    default:
      unreachable(consequence, "consequence");
  }
}

/** Gives up an execution: it waits for a person as a dead letter. */
export function bury(
  { buried, now }: Pick<Lists, "buried" | "now">,
  execution: Execution,
  reason: string,
  errorMessage: string,
): void {
  const { run, nodeIndex, iteration } = execution;
  const found = executionAt(run.state, nodeIndex, iteration);
  buried.push({
    ...jobKeyOf(execution),
    deadLetterId: uuidV7(now),
    deliveries: found?.lostDeliveries ?? 0,
    executorId: found?.executorId ?? NO_EXECUTOR,
    reason,
    errorMessage,
  });
}
