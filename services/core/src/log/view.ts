// The view of a run: the facts that a person sees, folded from its events alone. The console, the command line and users of the client fold
// with it. It needs no graph. Statuses and reasons come from the event table, as in the scheduler's own fold (`fold.ts`).
//
// A view never changes: a component draws again when its part is another object. `ViewFold` changes its own copies and makes one view for
// all events since the last. So an event costs the same in a long log as in a short one. A stream that resumes may send an event twice: the
// fold drops every event at or before its cursor.

import type { Limits } from "../policy/limit.ts";
import { isFinal, isSettled } from "./event.ts";
import type { Media, NodeStatus, PauseNote, RunEvent, RunStatus } from "./event.ts";
import { reasonOf, runStatusAfter } from "./meaning.ts";
import { viewNode } from "./view-node.ts";

/** A view for its readers: nothing in it changes. */
type Frozen<Draft> = {
  readonly [Key in keyof Draft]: Draft[Key] extends (infer Item)[] ? readonly Item[] : Draft[Key];
};

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
  /** The epoch of the claim. 0 before the start, and for a node that the scheduler completed itself. */
  readonly epoch: number;
  /** Empty if no executor was involved. */
  readonly executorId: string;
  readonly queuedAt: number;
  readonly notBeforeAt: number | undefined;
  readonly startedAt: number | undefined;
  readonly endedAt: number | undefined;
  readonly end: DeliveryEnd | undefined;
}

interface LogLine {
  readonly seq: number;
  readonly at: number;
  readonly level: string;
  readonly message: string;
}

/** The answer of a person, or of the clock, to a node that was held. */
interface DecisionView {
  readonly decision: string;
  /** The name that the person gave. It may be empty. */
  readonly by: string;
  readonly comment: string;
  readonly response: string;
  readonly at: number;
}

/** One node execution while its fold changes it. A text is empty if there is nothing to show. */
export class NodeDraft {
  readonly key: string;
  readonly nodeId: string;
  readonly iteration: number;
  /** Which item of a map or a loop it is, from 1; 0 for the node itself. */
  readonly item: number;
  /** How many rounds of the node are over, and the newest of them as they ended, in order. */
  round = 0;
  earlier: readonly NodeView[] = [];
  status: NodeStatus = "pending";
  attempt = 0;
  deliveries: Delivery[] = [];
  /** The limits that the execution waits for while it is queued. */
  limits: Limits = {};
  handle = "";
  output: string | undefined;
  /** For programs: the cause of a failure, a retry or a skip. While the node waits, it is the reason of the wait. */
  cause = "";
  /** For people. */
  message = "";
  details = "";
  /** The text streamed under the newest claim. A new claim starts the text again. */
  text = "";
  textEpoch = 0;
  nextDelta = 0;
  /** The newest pictures and files streamed under the newest claim. */
  media: readonly Media[] = [];
  log: LogLine[] = [];
  lostDeliveries = 0;
  /** How many iterations a map or a loop has, once known, and how many of them have settled. */
  width: number | undefined;
  settledCount = 0;
  /** The run that the node waits for, or waited for. */
  childRunId = "";
  /** The approval that a person answers, and its question. */
  approvalId = "";
  question = "";
  /** The answer to its newest hold. */
  decision: DecisionView | undefined;
  /** When its newest delivery started. */
  startedAt: number | undefined;
  settledAt: number | undefined;
  /** The nodes behind it wait until then. */
  releaseAt: number | undefined;

  constructor(nodeId: string, iteration: number, base = 0) {
    this.key = nodeKey(nodeId, iteration, base);
    this.nodeId = nodeId;
    this.iteration = iteration;
    this.item = iteration - base;
  }
}
export type NodeView = Frozen<NodeDraft>;

class NewRun {
  status: RunStatus = "pending";
  /** The seq and the time of the newest event. */
  lastSeq = 0;
  lastAt = 0;
  startedAt: number | undefined;
  endedAt: number | undefined;
  input = "";
  output: string | undefined;
  /** Why the run failed, timed out or was cancelled. */
  message = "";
  /** The node that failed the run. */
  failedNodeId = "";
  hasFailures = false;
  /** The limits that a pending run waits for. */
  limits: Limits = {};
  /** The user who paused the run, and why, while it is paused. */
  pause: Partial<PauseNote> | undefined;
  /** The node executions by key, in the order in which the log first names them. */
  nodes: ReadonlyMap<string, NodeView> = new Map();
}
type RunDraft = { [Key in keyof NewRun]: NewRun[Key] };
export type RunView = Frozen<RunDraft>;

/** The view of an empty log. */
export const EMPTY_VIEW: RunView = new NewRun();

/** The key of a node execution: the id of the node, whose present round has the iteration `base`, or of one of its items. */
export const nodeKey = (nodeId: string, iteration: number, base = 0): string =>
  iteration === base ? nodeId : `${nodeId}#${iteration}`;

/** How many earlier rounds of a node a view keeps: the newest. */
const ROUNDS_MAX = 100;

/** The execution that a key names, in any round that the view keeps. A key without an iteration names the present round. */
export function executionIn({ nodes }: RunView, key: string): NodeView | undefined {
  const known = nodes.get(key);
  if (known !== undefined) return known;
  const [id = "", iteration] = key.split("#");
  const node = nodes.get(id);
  const rounds = node === undefined ? [] : [node, ...node.earlier];
  return rounds.find((round) => round.iteration === Number(iteration));
}

/** A node execution that no event has named yet. */
export const emptyNode = (nodeId: string, iteration: number): NodeView =>
  new NodeDraft(nodeId, iteration);

/** The view after `events`, the log of a run from its beginning. */
export function view(events: Iterable<RunEvent>): RunView {
  const fold = new ViewFold();
  for (const event of events) fold.add(event);
  return fold.view();
}

/** Folds a log event by event. */
export class ViewFold {
  #view = EMPTY_VIEW;
  readonly #run: RunDraft = { ...EMPTY_VIEW };
  readonly #nodes = new Map<string, NodeView>();
  /** The nodes that changed since the last view: copies that no view holds. */
  readonly #drafts = new Map<string, NodeDraft>();

  /** Adds the next event. An event at or before the cursor changes nothing. */
  add(event: RunEvent): void {
    if (event.seq <= this.#run.lastSeq) return;
    this.#run.lastSeq = event.seq;
    this.#run.lastAt = Math.max(this.#run.lastAt, event.at);
    viewRun(this.#run, event);
    const { nodeId, iteration } = event;
    if (nodeId === "") return;
    if (event.type === "node.invalidated") return this.#beginRound(nodeId);
    const base = this.#baseOf(nodeId);
    const node = this.#draft(nodeId, iteration);
    const wasSettled = isSettled(node.status);
    viewNode(node, event);
    if (iteration === base) this.#run.hasFailures ||= node.handle === "error";
    else if (!wasSettled && isSettled(node.status)) this.#draft(nodeId, base).settledCount += 1;
  }

  /** The iteration of a node itself in its present round. */
  #baseOf(nodeId: string): number {
    return this.#nodes.get(nodeId)?.iteration ?? 0;
  }

  /** The node is pending again. Its view moves to the earlier rounds; its items keep their keys, because their iterations differ. */
  #beginRound(nodeId: string): void {
    const base = this.#baseOf(nodeId);
    const { earlier, ...ended } = this.#draft(nodeId, base);
    const iteration = base + 1 + (ended.width ?? 0);
    const next = new NodeDraft(nodeId, iteration, iteration);
    next.round = ended.round + 1;
    next.earlier = [...earlier, { ...ended, earlier: [] }].slice(-ROUNDS_MAX);
    this.#drafts.set(nodeId, next);
    this.#nodes.set(nodeId, next);
  }

  /** The view after all events so far. The same object if there was no event since the last view. */
  view(): RunView {
    if (this.#view.lastSeq === this.#run.lastSeq) return this.#view;
    this.#drafts.clear();
    this.#view = { ...this.#run, nodes: new Map(this.#nodes) };
    return this.#view;
  }

  #draft(nodeId: string, iteration: number): NodeDraft {
    const base = this.#baseOf(nodeId);
    const key = nodeKey(nodeId, iteration, base);
    const known = this.#drafts.get(key);
    if (known !== undefined) return known;
    const node = this.#nodes.get(key) ?? new NodeDraft(nodeId, iteration, base);
    const draft = { ...node, deliveries: [...node.deliveries], log: [...node.log] };
    this.#drafts.set(key, draft);
    this.#nodes.set(key, draft);
    return draft;
  }
}

function viewRun(run: RunDraft, event: RunEvent): void {
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
    case "node.failed":
    case "node.timed_out":
      run.hasFailures = true;
      return;
    default:
  }
}
