// The start of a run, from the accepted request to the row. The scheduler makes one `AcceptedStart` from a request, a schedule or a node
// with a child run. The event `run.started`, the row of the run and the answer to the caller are made from it.

import type { DefinitionId, NodeId, RunId } from "../name/ids.ts";
import type { Budget } from "../policy/budget.ts";
import type { Limits } from "../policy/limit.ts";
import type { Taint } from "../policy/taint.ts";
import type { Receiver } from "../policy/webhook.ts";
import type { AssistantLink } from "./assistant.ts";
import type {
  Fact,
  FactOf,
  ParentLink,
  RepairLink,
  RunKind,
  RunStatus,
  ScheduleLink,
  ThreadLink,
} from "./event.ts";

/** What a caller may set for one run in place of its definition's own. */
export interface AskedOfRun {
  /** How long the run may take. */
  readonly deadlineMs?: number;
  /** How often the run may repeat. */
  readonly maxIterations?: number;
  /** How often an execution may be retried at most. */
  readonly maxRetries?: number;
  readonly goal?: string;
  readonly constraints?: readonly string[];
}

export interface AcceptedStart {
  readonly runId: RunId;
  readonly tenantId: string;
  readonly kind: RunKind;
  readonly definitionId: DefinitionId;
  readonly definitionDigest: string;
  /** Null for a test run. */
  readonly workflowId: string | null;
  readonly workflowVersion: number;
  /** The scheduler remembered the newest version and did not read it. The insert commits only if it is still the newest. */
  readonly assumesNewest: boolean;
  readonly priority: number;
  readonly requestId: string | null;
  readonly requestHash: string | null;
  readonly traceparent: string | null;
  /** When the scheduler accepted the run. The deadline counts from this time, or from `startAt`. */
  readonly createdAt: number;
  readonly deadlineAt: number;
  /** The run does not begin before. Absent if it may begin at once. */
  readonly startAt?: number;
  /** The assistant that the run is started by, as it is now. */
  readonly assistant?: AssistantLink;
  /** The thread of the run. */
  readonly thread?: AskedThread;
  /** What the caller set, and the definition sets otherwise. */
  readonly asked?: AskedOfRun;
  /** How much the run may use. */
  readonly budget?: Budget;
  /** The slots that the run needs before it begins. */
  readonly limits: Limits;
  /** JSON text. */
  readonly input: string;
  /** What users say about the run, as the text of a JSON object. */
  readonly metadata?: string;
  /** Set if the caller asked that the same input starts only one run during this time. */
  readonly inputKey?: { readonly key: string; readonly ttlMs: number };
  /** The node execution that waits for the run. */
  readonly parent: ParentLink | null;
  /** How many runs are above this one. */
  readonly depth: number;
  /** The occurrence that starts the run. */
  readonly schedule?: ScheduleLink;
  /** The labels of the input. Absent if it has none. */
  readonly taint?: Taint;
  /** The run that this one repairs, and the facts that it takes over. They follow `run.started` in the same commit. */
  readonly repair?: AcceptedRepair;
  /** The run only undoes this execution of another run. Its input has the keys `input` and `output`. */
  readonly undoes?: ParentLink;
  /** The webhooks of the run: those of its workflow and of its request. */
  readonly webhooks?: readonly Receiver[];
}

/** What a new run does with the runs of its thread that have not ended. */
export type MultitaskStrategy = "reject" | "enqueue" | "interrupt" | "rollback";

/** The thread that a caller names for a run. The tick that accepts the run gives it its position in the thread. */
export interface AskedThread extends Partial<ThreadLink> {
  readonly threadId: string;
  /** Whether the run creates the thread if there is none. */
  readonly isCreated: boolean;
  readonly strategy: MultitaskStrategy;
}

/** What a run takes over from the finished run that it repairs. */
interface AcceptedRepair extends RepairLink {
  readonly facts: readonly Fact[];
  /** Nodes whose effects of the iterations from `fromBase` on the run gets, from `toBase` on. */
  readonly keptEffects: readonly {
    readonly nodeId: NodeId;
    readonly fromBase: number;
    readonly toBase: number;
  }[];
}

/** The facts about an accepted run for the caller. */
export interface AcceptedRun extends Pick<
  AcceptedStart,
  | "runId"
  | "workflowId"
  | "workflowVersion"
  | "kind"
  | "priority"
  | "createdAt"
  | "deadlineAt"
  | "traceparent"
> {
  readonly startAt?: number | null;
  readonly threadId?: string | null;
  readonly assistantId?: string | null;
  readonly status: RunStatus;
  readonly lastSeq: number;
}

export function acceptedRun(
  start: AcceptedStart,
  since: Pick<AcceptedRun, "status" | "lastSeq">,
): AcceptedRun {
  const { runId, workflowId, workflowVersion, kind, priority, traceparent } = start;
  const { createdAt, deadlineAt, startAt = null } = start;
  const named = { runId, workflowId, workflowVersion, kind, priority, traceparent };
  const threadId = start.thread?.threadId ?? null;
  const assistantId = start.assistant?.assistantId ?? null;
  return { ...named, threadId, assistantId, createdAt, deadlineAt, startAt, ...since };
}

/** The first event of a run. */
export function startedFact(start: AcceptedStart): FactOf<"run.started"> {
  const { definitionDigest, workflowVersion, kind, deadlineAt, inputKey, parent, depth } = start;
  return {
    nodeId: "",
    iteration: 0,
    attempt: 0,
    epoch: 0,
    type: "run.started",
    payload: {
      definitionDigest,
      workflowVersion,
      kind,
      deadlineAt,
      ...start.asked,
      ...(start.budget === undefined ? {} : { budget: start.budget }),
      ...(inputKey === undefined ? {} : { inputKey: inputKey.key }),
      ...(parent === null ? {} : { parent, depth }),
      ...start.limits,
      ...(start.schedule === undefined ? {} : { schedule: start.schedule }),
      ...(start.assistant === undefined ? {} : { assistant: start.assistant }),
      ...threadOf(start),
      ...(start.startAt === undefined ? {} : { startAt: start.startAt }),
      ...(start.taint === undefined ? {} : { taint: start.taint }),
      ...repairOf(start),
      ...(start.undoes === undefined ? {} : { undoes: start.undoes }),
      ...webhookEventsOf(start),
    },
    value: start.input,
  };
}

/** The log names the events only: it shows no URL, which may hold a token. */
function webhookEventsOf({ webhooks = [] }: AcceptedStart) {
  if (webhooks.length === 0) return {};
  return { webhookEvents: [...new Set(webhooks.flatMap(({ events }) => events))] };
}

function threadOf({ thread }: AcceptedStart) {
  if (thread === undefined) return {};
  const { threadId, position = 0, yields } = thread;
  return { thread: { threadId, position, ...(yields === true ? { yields } : {}) } };
}

function repairOf({ repair }: AcceptedStart) {
  if (repair === undefined) return {};
  const { runId, planDigest } = repair;
  return { repair: { runId, planDigest } };
}
