// The view of a run: the facts that a person sees, folded from its events alone. The console, the command line and users of the client fold
// with it. It needs no graph. Statuses and reasons come from the event table, as in the scheduler's own fold (`fold.ts`).
//
// A view never changes: a component draws again when its part is another object. `ViewFold` changes its own copies and makes one view for
// all events since the last. So an event costs the same in a long log as in a short one. A stream that resumes may send an event twice: the
// fold drops every event at or before its cursor.

import type { Failure } from "../fault/cause.ts";
import type { Limits } from "../policy/limit.ts";
import type { Taint } from "../policy/taint.ts";
import { isFinal, isSettled } from "./event.ts";
import type {
  Compensated,
  Ending,
  Media,
  NodeStatus,
  PauseNote,
  RunEvent,
  RunStatus,
} from "./event.ts";
import { failureOf, reasonOf, runStatusAfter } from "./meaning.ts";
import { isUndo, undoneBy } from "./undo-iteration.ts";
import { endsResults } from "./undone.ts";
import { StandingFold } from "./standing.ts";
import type { DecisionView, Delivery, LogLine } from "./view-parts.ts";
import { isStep, viewNode, viewStep } from "./view-node.ts";
import { Account, countUsage, NO_SPENDING, type Spending, viewBudget } from "./view-usage.ts";

/** A view for its readers: nothing in it changes. */
type Frozen<Draft> = {
  readonly [Key in keyof Draft]: Draft[Key] extends (infer Item)[] ? readonly Item[] : Draft[Key];
};

/** One node execution while its fold changes it. A text is empty if there is nothing to show. */
export class NodeDraft extends Account {
  readonly key: string;
  readonly nodeId: string;
  readonly iteration: number;
  /** Which item of a map or a loop it is, from 1; 0 for the node itself and for a compensation. */
  readonly item: number;
  /** The iteration that it undoes, if it is a compensation. */
  readonly undoes: number | undefined;
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
  /** The cause of a failure, a retry or a skip. While the node waits, it is the reason of the wait. The message is for people. */
  cause = "";
  message = "";
  details = "";
  failure: Failure | undefined;
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
  /** The tool that an iteration of an agent calls; empty for a turn. Of an agent: the tools that its last turn calls and that have not begun. */
  tool = "";
  pendingCalls: readonly string[] = [];
  /** The run that the node waits for, or waited for. */
  childRunId = "";
  /** The approval that a person answers, and its question. */
  approvalId = "";
  question = "";
  /** The signal that the node waits for, or waited for, and until when. */
  signal = "";
  signalUntil: number | undefined;
  /** The answer to its newest hold. */
  decision: DecisionView | undefined;
  /** When it was last held before a start, by a policy or for a signal, and when that hold was over. */
  heldAt: number | undefined;
  heldUntil: number | undefined;
  /** When its newest delivery started. */
  startedAt: number | undefined;
  settledAt: number | undefined;
  /** The nodes behind it wait until then. */
  releaseAt: number | undefined;
  /** The labels of its output, or of the data that it reads as long as it has no output. */
  taint: Taint = [];
  /** The labels that a sanitize node or a person dropped here, and why. */
  dropped: readonly string[] = [];
  dropReason = "";

  constructor(nodeId: string, iteration: number, base = 0) {
    super();
    this.key = nodeKey(nodeId, iteration, base);
    this.nodeId = nodeId;
    this.iteration = iteration;
    this.undoes = isUndo(iteration) ? undoneBy(iteration) : undefined;
    this.item = this.undoes === undefined ? iteration - base : 0;
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
  failure: Failure | undefined;
  /** The node that failed the run. */
  failedNodeId = "";
  hasFailures = false;
  /** Whether its results can be reused by a repair: its log begins with its start, and nothing of it was undone. */
  isRepairable = false;
  /** The limits that a pending run waits for. */
  limits: Limits = {};
  /** How the run ends after its compensation, while it is compensated. */
  ending: Ending | undefined;
  /** What was undone before the end, and what was not. */
  compensation: Compensated["compensation"];
  /** The user who paused the run, and why, while it is paused. */
  pause: Partial<PauseNote> | undefined;
  /** What all attempts used, with those that failed, and how much the run may use. */
  spending: Spending = NO_SPENDING;
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
  /** From it the status follows, as in the scheduler's own fold. */
  readonly #standing = new StandingFold(EMPTY_VIEW.status);

  /** Adds the next event. An event at or before the cursor changes nothing. */
  add(event: RunEvent): void {
    if (event.seq <= this.#run.lastSeq) return;
    this.#run.lastSeq = event.seq;
    this.#run.lastAt = Math.max(this.#run.lastAt, event.at);
    const status = runStatusAfter(event);
    this.#standing.add(event.type, status);
    viewRun(this.#run, event, status);
    if (endsResults(event)) this.#run.isRepairable = false;
    viewBudget(this.#run, event);
    if (event.nodeId !== "") this.#addToNode(event, event.nodeId);
    this.#run.status = this.#standing.derived;
  }

  #addToNode(event: RunEvent, nodeId: string): void {
    const { type, iteration } = event;
    if (type === "node.invalidated") return this.#beginRound(nodeId);
    const base = this.#baseOf(nodeId);
    const isNew = !this.#nodes.has(nodeKey(nodeId, iteration, base));
    const node = this.#draft(nodeId, iteration);
    const wasSettled = isSettled(node.status);
    this.#standing.count(node, -1);
    countUsage(this.#run, node, event);
    viewNode(node, event);
    const agent = iteration === base ? undefined : this.#nodes.get(nodeId);
    if (agent !== undefined && isStep(agent, node, event, isNew))
      viewStep(this.#draft(nodeId, base), node, event, isNew);
    this.#standing.count(node, 1);
    if (iteration === base) this.#run.hasFailures ||= node.handle === "error";
    else if (!wasSettled && isSettled(node.status) && node.undoes === undefined)
      this.#draft(nodeId, base).settledCount += 1;
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

function viewRun(run: RunDraft, event: RunEvent, status: RunStatus | undefined): void {
  if (status !== undefined) {
    run.limits = {};
    run.pause = undefined;
    run.message = reasonOf(event)?.message ?? "";
    run.failure = failureOf(event);
    if (isFinal(status)) {
      run.endedAt = event.at;
      run.ending = undefined;
    }
  }
  // oxlint-disable-next-line typescript/switch-exhaustiveness-check -- the table has the meaning of the other types
  switch (event.type) {
    case "run.started": {
      const { slot, rate } = event.payload;
      run.startedAt = event.at;
      run.isRepairable = true;
      run.input = event.value ?? "";
      run.limits = { ...(slot && { slot }), ...(rate && { rate }) };
      return;
    }
    case "run.status.changed": {
      const { to, scope = "run", who = "", reason = "", ending, waitingFor } = event.payload;
      run.ending = ending ?? run.ending;
      if (to === "paused") run.pause = { scope, who, reason, ...(waitingFor && { waitingFor }) };
      return;
    }
    case "run.completed":
      run.output = event.value;
      run.hasFailures = event.payload.hasFailures;
      run.compensation = event.payload.compensation;
      return;
    case "run.failed":
      run.failedNodeId = event.payload.failedNodeId;
      run.compensation = event.payload.compensation;
      return;
    case "run.cancelled":
    case "run.timed_out":
      run.compensation = event.payload.compensation;
      return;
    case "node.failed":
    case "node.timed_out":
      run.hasFailures = true;
      return;
    default:
  }
}
