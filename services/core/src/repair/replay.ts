// Replays the log of a finished run for the run that repairs it. Two folds walk the log side by side: `before` is the finished run, `after`
// is the new one. `after` gets only the facts that it may take over. At each event both are at the same moment of the log, so "would the
// new run have decided the same here?" is a comparison of two states. The facts are the beginning of the new run's log.
//
// A result is reused if its node has the same definition, its join fired the same way, and everything that it reads is the same text.
// Otherwise the node stays pending in `after`. The nodes behind it then do not fire there, so their results are not reused either. Rounds,
// maps, handles, memory and variables need no rules of their own, because the fold is the same.
//
// The finished run never changes. So there is no race: the same log and the same request give the same facts.

import { readsOf } from "../definition/reads.ts";
import type { Graph } from "../definition/graph.ts";
import { readJson } from "../log/context.ts";
import { isSettled, type Fact, type RunEvent } from "../log/event.ts";
import { isItem } from "../log/execution.ts";
import { apply, fold, newRunState } from "../log/fold.ts";
import { isSettlingType } from "../log/meaning.ts";
import type { NodeState, RunState } from "../log/state.ts";
import type { NodeId, RunId } from "../name/ids.ts";
import { readiness } from "../plan/join.ts";
import { graphNodeAt, nodeStateAt } from "../plan/place.ts";
import { changedFields } from "./changes.ts";
import { endsOf, type Ends } from "./ends.ts";

/** What to reuse of a finished run. */
export interface Reuse {
  /** The graph of the new run. */
  readonly graph: Graph;
  /** The input of the new run as JSON text; undefined if it stays the same. */
  readonly input?: string | undefined;
  /** Nodes that run again. */
  readonly fromNodes: ReadonlySet<string>;
  /** Changed nodes whose results are reused nevertheless. */
  readonly keepNodes: ReadonlySet<string>;
  /** Nodes whose output a user sets by hand. */
  readonly setNodes: ReadonlySet<string>;
}

/** The finished run. */
export interface Origin {
  readonly runId: RunId;
  readonly graph: Graph;
  /** The log without stream deltas: the whole log, or its events up to the last one to reuse. */
  readonly events: readonly RunEvent[];
}

/** Why a node runs again. `after` names a parent that does. */
export type Why =
  | "asked"
  | "changed"
  | "removed"
  | "set"
  | "reads_differ"
  | "not_completed"
  | { readonly after: string };

export interface Replayed {
  /** The finished run at its end. */
  readonly before: RunState;
  /** The new run after its first commit, before the planner. */
  readonly after: RunState;
  /** The facts that the new run takes over, in order, without `run.started`. */
  readonly facts: readonly Fact[];
  /** Why the present round of a node is not reused. Absent for reused nodes and for nodes that the run never reached. */
  readonly whys: ReadonlyMap<NodeId, Why>;
}

/** @throws EVENT_LOG_CORRUPTION if the log does not fold */
export function replay(origin: Origin, reuse: Reuse, now: number): Replayed {
  const walk = new Walk(origin, reuse, now);
  for (const event of origin.events) walk.pass(event);
  return walk;
}

class Walk implements Replayed {
  readonly before: RunState;
  readonly after: RunState;
  readonly facts: Fact[] = [];
  /** The verdict about the present round of each node that was decided: undefined if it is reused. */
  readonly #verdicts = new Map<NodeId, Why | undefined>();
  readonly #reuse: Reuse;
  readonly #ends: Ends;
  readonly #now: number;
  /** Until something differs, both states are equal, and no comparison is needed. */
  #differs: boolean;

  constructor({ runId, graph, events }: Origin, reuse: Reuse, now: number) {
    this.before = newRunState(runId, graph);
    this.after = newRunState(runId, reuse.graph);
    this.#reuse = reuse;
    this.#ends = endsOf(events, fold(runId, graph, events));
    this.#now = now;
    this.#differs = reuse.input !== undefined;
  }

  get whys(): ReadonlyMap<NodeId, Why> {
    const found = [...this.#verdicts].flatMap(([id, why]) =>
      why === undefined ? [] : [[id, why] as const],
    );
    return new Map(found);
  }

  pass(event: RunEvent): void {
    const { nodeId, type } = event;
    if (nodeId === "") {
      if (type === "run.started") apply(this.after, this.#started(event));
      // The new run keeps the signals, and the memory that the finished one got from its thread. A node that runs again takes its signal again.
      if (type === "run.signalled" || type === "run.thread.taken")
        this.#take(copyOf(event, { ...event, now: this.#now }));
    } else {
      const index = this.before.graph.indexOf.get(nodeId) ?? -1;
      const node = this.before.nodes[index];
      if (node?.status === "pending" && event.iteration === node.base)
        this.#verdicts.set(nodeId, this.#judge(nodeId, index, event));
      this.#carry(nodeId, event);
    }
    apply(this.before, event);
    if (type === "node.invalidated" && nodeId !== "") this.#verdicts.delete(nodeId);
  }

  /** The new run is not limited here: the planner does not run, and `run.started` of the new run has its own limits. */
  #started(event: RunEvent): RunEvent {
    return { ...event, value: this.#reuse.input ?? event.value ?? "null" };
  }

  /** Why a decision about a node would not be the same in the new run; undefined if it would. */
  #judge(id: NodeId, index: number, event: RunEvent): Why | undefined {
    const { fromNodes, keepNodes, setNodes } = this.#reuse;
    const target = this.after.graph.indexOf.get(id);
    if (target === undefined) return "removed";
    if (setNodes.has(id)) return "set";
    const isLast = this.#ends.lastBase(id) === event.iteration;
    if (isLast && fromNodes.has(id)) return "asked";
    const changed = changedFields([this.before.graph, index], [this.after.graph, target]);
    if (changed.length > 0 && !keepNodes.has(id)) return "changed";
    if (isLast && this.#ends.isCutOff(id)) return "not_completed";
    return this.#differs ? this.#difference(index, target) : undefined;
  }

  #difference(index: number, target: number): Why | undefined {
    const old = nodeStateAt(this.before, index);
    const fresh = nodeStateAt(this.after, target);
    if (
      fresh.status !== "pending" ||
      fresh.round !== old.round ||
      wayIn(this.before, index, old) !== wayIn(this.after, target, fresh)
    )
      return { after: this.#blocking(target) };
    const { definition } = graphNodeAt(this.after, target);
    if (definition.type === "start") return undefined;
    const { type, config, input } = definition;
    const reads = readsOf({ type, config, input, until: null, keys: [] });
    return readJson(this.before, index, reads) === readJson(this.after, target, reads)
      ? undefined
      : "reads_differ";
  }

  /** A parent that the new run has to run first. */
  #blocking(target: number): string {
    const { incoming, definition } = graphNodeAt(this.after, target);
    const open = incoming.find((edge) => !isSettled(nodeStateAt(this.after, edge.source).status));
    return open?.definition.source ?? definition.id;
  }

  /** Takes a fact over, if the execution that it is about is reused. */
  #carry(id: NodeId, event: RunEvent): void {
    const fact = this.#verdicts.get(id) === undefined ? this.#reusedFact(id, event) : undefined;
    if (fact !== undefined) this.#take(fact);
    else if (isSettlingType(event.type)) this.#differs = true;
  }

  #take(fact: Fact): void {
    apply(this.after, { ...fact, seq: this.after.lastSeq + 1, at: this.#now });
    this.facts.push(fact);
  }

  #reusedFact(id: NodeId, event: RunEvent): Fact | undefined {
    const index = this.before.graph.indexOf.get(id);
    const target = this.after.graph.indexOf.get(id);
    if (index === undefined || target === undefined) return undefined;
    const old = nodeStateAt(this.before, index);
    const fresh = nodeStateAt(this.after, target);
    if (old.round !== fresh.round) return undefined;
    const ofItem = isItem(this.before, index, event.iteration);
    if (!this.#isKept(id, event, fresh, ofItem)) return undefined;
    const iteration = fresh.base + (event.iteration - old.base);
    const isStart = graphNodeAt(this.after, target).definition.type === "start";
    const value = isStart && event.type === "node.completed" ? this.after.input : event.value;
    return copyOf(event, { iteration, value, now: this.#now });
  }

  /** Whether the new run takes over a fact of a node that it reuses. */
  #isKept(id: NodeId, event: RunEvent, fresh: NodeState, ofItem: boolean): boolean {
    const isLast = this.#ends.lastBase(id) === this.#baseOf(id);
    const isPartial = isLast && this.#ends.isPartial(id, event.iteration, ofItem);
    // A compensation undoes the items of a map, so the new run needs each of them.
    const isUndone = this.#isUndone(id) && this.#ends.isCompleted(id, event.iteration);
    // oxlint-disable-next-line typescript/switch-exhaustiveness-check -- facts of other types are not taken over
    switch (event.type) {
      case "node.completed":
        // The output of a map has the outputs of its items. They are needed only if some of them run again.
        return ofItem ? isPartial || isUndone : !isPartial && !isSettled(fresh.status);
      case "node.expanded":
        return isPartial || isUndone;
      case "node.skipped":
        return !isSettled(fresh.status);
      case "memory.updated":
        return this.#ends.isCompleted(id, event.iteration);
      case "node.failed":
      case "node.timed_out":
        return !isLast && !ofItem;
      case "node.cancelled":
        return !isLast && !ofItem && this.after.jumps.length > 0;
      case "node.invalidated":
        return isSettled(fresh.status) && jumpOf(this.before) === jumpOf(this.after);
      default:
        return false;
    }
  }

  #isUndone(id: NodeId): boolean {
    const index = this.after.graph.indexOf.get(id);
    return (
      index !== undefined && graphNodeAt(this.after, index).definition.compensation !== undefined
    );
  }

  #baseOf(id: NodeId): number {
    return this.before.nodes[this.before.graph.indexOf.get(id) ?? -1]?.base ?? 0;
  }
}

/** How a pending node is reached: by a jump of a node, or by its join. */
function wayIn(state: RunState, index: number, node: NodeState): string {
  const [jump] = state.jumps;
  const entry = node.entry ?? (jump?.target === index ? jump.entry : undefined);
  return entry === undefined
    ? readiness(graphNodeAt(state, index), node)
    : `from ${graphNodeAt(state, entry.source).definition.id}`;
}

/** The jump that the planner follows next. */
function jumpOf({ jumps: [jump], graph }: RunState): string {
  const nameOf = (index: number) => graph.nodes[index]?.definition.id ?? "";
  return jump === undefined ? "" : `${nameOf(jump.entry.source)} ${nameOf(jump.target)}`;
}

/** Facts that no attempt made. */
const UNCLAIMED: ReadonlySet<string> = new Set([
  "node.skipped",
  "run.signalled",
  "run.thread.taken",
]);

/** A fact of the finished run for the log of the new one. Its usage counts once, in the finished run. */
function copyOf(
  event: RunEvent,
  { iteration, value, now }: { iteration: number; value?: string | undefined; now: number },
): Fact {
  const { by: _by, ...rest } = event.payload;
  const payload: Record<string, unknown> = { ...rest, reused: event.seq };
  if (event.type === "node.completed") {
    const { queueDelayMs = 0 } = event.payload;
    const leftMs = event.at + queueDelayMs - now;
    delete payload["usage"];
    delete payload["queueDelayMs"];
    if (queueDelayMs > 0 && leftMs > 0) payload["queueDelayMs"] = leftMs;
  }
  const isUnclaimed = UNCLAIMED.has(event.type);
  const attempt = Math.max(event.attempt, isUnclaimed ? 0 : 1);
  const place = { nodeId: event.nodeId, iteration, attempt, epoch: 0 };
  const own = value === undefined ? {} : { value };
  // The copy keeps the pairing of type and payload, which the union cannot see.
  return { ...place, type: event.type, payload, ...own } as Fact;
}
