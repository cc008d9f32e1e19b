// The view of a run: what a person sees of it, folded from its events alone. The console, the command line and users of the client
// fold with it; it needs no graph. Statuses and reasons come from the event table, as in the scheduler's own fold (`fold.ts`).
//
// A view never changes: a component draws again when its part became another object. Folding stays cheap all the same. `ViewFold`
// changes its own copies and makes one view for all events since the last; an event costs the same in a long log as in a short one.
// A stream that resumes may send an event twice: the fold drops every event at or before its cursor.

import type { Limits } from "../policy/limit.ts";
import { isFinal, isSettled } from "./event.ts";
import type { Media, NodeStatus, PauseNote, RunEvent, RunStatus } from "./event.ts";
import { reasonOf, runStatusAfter } from "./meaning.ts";
import { viewNode } from "./view-node.ts";

/** How a delivery ended. `lost`: its executor vanished, and another delivery follows. `held`: a person approved its input, and another follows. */
export type DeliveryEnd =
  | "completed"
  | "failed"
  | "retried"
  | "lost"
  | "timed_out"
  | "cancelled"
  | "skipped"
  | "held";

/** One delivery of a node execution to an executor: queued, started, ended. */
export interface Delivery {
  readonly attempt: number;
  /** The claim; 0 before the start, and of a node that the scheduler completed itself. */
  readonly epoch: number;
  /** Empty where no executor was involved. */
  readonly executorId: string;
  readonly queuedAt: number;
  readonly notBeforeAt: number | undefined;
  readonly startedAt: number | undefined;
  readonly endedAt: number | undefined;
  readonly end: DeliveryEnd | undefined;
}

export interface LogLine {
  readonly seq: number;
  readonly at: number;
  readonly level: string;
  readonly message: string;
}

/** The answer of a person, or of the clock, to a node that was held. */
export interface DecisionView {
  readonly decision: string;
  /** The name that the person gave; may be empty. */
  readonly by: string;
  readonly comment: string;
  readonly response: string;
  readonly at: number;
}

/** One node execution. Texts are empty where there is nothing to say. */
export interface NodeView {
  readonly key: string;
  readonly nodeId: string;
  readonly iteration: number;
  readonly status: NodeStatus;
  readonly attempt: number;
  readonly deliveries: readonly Delivery[];
  /** The limits that the execution waits for while it is queued. */
  readonly limits: Limits;
  readonly handle: string;
  readonly output: string | undefined;
  /** For programs: the cause of a failure, a retry or a skip; while the node waits, what it waits for. */
  readonly cause: string;
  /** For people. */
  readonly message: string;
  readonly details: string;
  /** The text streamed under the newest claim; a new claim starts over. */
  readonly text: string;
  readonly textEpoch: number;
  readonly nextDelta: number;
  /** The newest pictures and files streamed under the newest claim. */
  readonly media: readonly Media[];
  readonly log: readonly LogLine[];
  readonly lostDeliveries: number;
  /** How many iterations a map or a loop has, once known, and how many of them have settled. */
  readonly width: number | undefined;
  readonly settledCount: number;
  /** The run that the node waits for, or waited for. */
  readonly childRunId: string;
  /** The approval that a person answers, and its question. */
  readonly approvalId: string;
  readonly question: string;
  /** The answer to its newest hold. */
  readonly decision: DecisionView | undefined;
  /** When its newest delivery started. */
  readonly startedAt: number | undefined;
  readonly settledAt: number | undefined;
  /** The nodes behind it wait until then. */
  readonly releaseAt: number | undefined;
}

export interface RunView {
  readonly status: RunStatus;
  /** The seq and the time of the newest event. */
  readonly lastSeq: number;
  readonly lastAt: number;
  readonly startedAt: number | undefined;
  readonly endedAt: number | undefined;
  readonly input: string;
  readonly output: string | undefined;
  /** Why the run failed, timed out or was cancelled. */
  readonly message: string;
  /** The node that failed the run. */
  readonly failedNodeId: string;
  readonly hasFailures: boolean;
  /** The limits that a pending run waits for. */
  readonly limits: Limits;
  /** The user who paused the run, and why, while it is paused. */
  readonly pause: Partial<PauseNote> | undefined;
  /** By key, in the order in which the log first names them. */
  readonly nodes: ReadonlyMap<string, NodeView>;
}

/** The view of an empty log. */
export const EMPTY_VIEW: RunView = {
  status: "pending",
  lastSeq: 0,
  lastAt: 0,
  startedAt: undefined,
  endedAt: undefined,
  input: "",
  output: undefined,
  message: "",
  failedNodeId: "",
  hasFailures: false,
  limits: {},
  pause: undefined,
  nodes: new Map(),
};

/** The key of a node execution: the node's id, and the iteration of a map or a loop. */
export const nodeKey = (nodeId: string, iteration: number): string =>
  iteration === 0 ? nodeId : `${nodeId}#${iteration}`;

/** A node execution that no event has named yet. */
export const emptyNode = (nodeId: string, iteration: number): NodeView => ({
  key: nodeKey(nodeId, iteration),
  nodeId,
  iteration,
  status: "pending",
  attempt: 0,
  deliveries: [],
  limits: {},
  handle: "",
  output: undefined,
  cause: "",
  message: "",
  details: "",
  text: "",
  textEpoch: 0,
  nextDelta: 0,
  media: [],
  log: [],
  lostDeliveries: 0,
  width: undefined,
  settledCount: 0,
  childRunId: "",
  approvalId: "",
  question: "",
  decision: undefined,
  startedAt: undefined,
  settledAt: undefined,
  releaseAt: undefined,
});

/** The view after `events`, the log of a run from its beginning. */
export function view(events: Iterable<RunEvent>): RunView {
  const fold = new ViewFold();
  for (const event of events) fold.add(event);
  return fold.view();
}

type Draft<View> = { -readonly [Key in keyof View]: View[Key] };

/** A copy of a node that its fold may change, arrays included. */
export type NodeDraft = Omit<Draft<NodeView>, "deliveries" | "log"> & {
  deliveries: Delivery[];
  log: LogLine[];
};

/** Folds a log event by event. */
export class ViewFold {
  #view = EMPTY_VIEW;
  readonly #run: Draft<RunView> = { ...EMPTY_VIEW };
  readonly #nodes = new Map<string, NodeView>();
  /** The nodes that changed since the last view: copies that no view holds. */
  readonly #drafts = new Map<string, NodeDraft>();

  /** Takes the next event in; an event at or before the cursor changes nothing. */
  add(event: RunEvent): void {
    if (event.seq <= this.#run.lastSeq) return;
    this.#run.lastSeq = event.seq;
    this.#run.lastAt = Math.max(this.#run.lastAt, event.at);
    viewRun(this.#run, event);
    if (event.nodeId === "") return;
    const node = this.#draft(event.nodeId, event.iteration);
    const wasSettled = isSettled(node.status);
    viewNode(node, event);
    if (event.iteration > 0 && !wasSettled && isSettled(node.status))
      this.#draft(event.nodeId, 0).settledCount += 1;
  }

  /** The view after all events so far; the same object while no event came. */
  view(): RunView {
    if (this.#view.lastSeq === this.#run.lastSeq) return this.#view;
    this.#drafts.clear();
    this.#view = { ...this.#run, nodes: new Map(this.#nodes) };
    return this.#view;
  }

  #draft(nodeId: string, iteration: number): NodeDraft {
    const key = nodeKey(nodeId, iteration);
    const known = this.#drafts.get(key);
    if (known !== undefined) return known;
    const node = this.#nodes.get(key) ?? emptyNode(nodeId, iteration);
    const draft = { ...node, deliveries: [...node.deliveries], log: [...node.log] };
    this.#drafts.set(key, draft);
    this.#nodes.set(key, draft);
    return draft;
  }
}

function viewRun(run: Draft<RunView>, event: RunEvent): void {
  const status = runStatusAfter(event);
  if (status !== undefined) {
    run.status = status;
    run.limits = {};
    run.pause = undefined;
    run.message = reasonOf(event)?.message ?? "";
    if (isFinal(status)) run.endedAt = event.at;
  }
  // oxlint-disable-next-line typescript/switch-exhaustiveness-check -- the table has the meaning of the other types
  switch (event.type) {
    case "run.started": {
      const { slot, rate } = event.payload;
      run.startedAt = event.at;
      run.input = event.value ?? "";
      run.limits = { ...(slot && { slot }), ...(rate && { rate }) };
      return;
    }
    case "run.status.changed": {
      const { to, scope = "run", who = "", reason = "" } = event.payload;
      if (to === "paused") run.pause = { scope, who, reason };
      return;
    }
    case "run.completed":
      run.output = event.value;
      run.hasFailures = event.payload.hasFailures;
      return;
    case "run.failed":
      run.failedNodeId = event.payload.failedNodeId;
      return;
    case "node.completed":
      if (event.iteration === 0 && event.payload.handle === "error") run.hasFailures = true;
      return;
    case "node.failed":
    case "node.timed_out":
      run.hasFailures = true;
      return;
    default:
  }
}
