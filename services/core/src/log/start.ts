// The start of a run, from the accepted request to the row. The scheduler makes one `AcceptedStart` from a request, a schedule or a node
// with a child run. The event `run.started`, the row of the run and the answer to the caller are made from it.

import type { DefinitionId, RunId } from "../name/ids.ts";
import type { Limits } from "../policy/limit.ts";
import type { FactOf, ParentLink, RunKind, RunStatus, ScheduleLink } from "./event.ts";

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
  /** When the scheduler accepted the run. The deadline counts from this time. */
  readonly createdAt: number;
  readonly deadlineAt: number;
  /** How often the run may repeat, where the caller set another bound than the definition. */
  readonly maxIterations?: number;
  /** The slots that the run needs before it begins. */
  readonly limits: Limits;
  /** JSON text. */
  readonly input: string;
  /** Set if the caller asked that the same input starts only one run during this time. */
  readonly inputKey?: { readonly key: string; readonly ttlMs: number };
  /** The node execution that waits for the run. */
  readonly parent: ParentLink | null;
  /** How many runs are above this one. */
  readonly depth: number;
  /** The occurrence that starts the run. */
  readonly schedule?: ScheduleLink;
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
  readonly status: RunStatus;
  readonly lastSeq: number;
}

export function acceptedRun(
  start: AcceptedStart,
  since: Pick<AcceptedRun, "status" | "lastSeq">,
): AcceptedRun {
  const { runId, workflowId, workflowVersion, kind, priority, traceparent } = start;
  const { createdAt, deadlineAt } = start;
  const named = { runId, workflowId, workflowVersion, kind, priority, traceparent };
  return { ...named, createdAt, deadlineAt, ...since };
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
      ...(start.maxIterations === undefined ? {} : { maxIterations: start.maxIterations }),
      ...(inputKey === undefined ? {} : { inputKey: inputKey.key }),
      ...(parent === null ? {} : { parent, depth }),
      ...start.limits,
      ...(start.schedule === undefined ? {} : { schedule: start.schedule }),
    },
    value: start.input,
  };
}
