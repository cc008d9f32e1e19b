// Why a value has labels: the events from the origins of the labels to the value. The log has the labels of each value. Which values a node
// read follows from the state before its event, by the same rule that gave the labels (`log/taint.ts`). So a trace needs one fold of the log.

import type { LoggedFact } from "../log/event.ts";
import { TAINT_HOLD } from "../log/event.ts";
import { executionAt } from "../log/execution.ts";
import { isMerged, writtenKeys } from "../log/memory.ts";
import type { RunState } from "../log/state.ts";
import { readTaint, taintedReads } from "../log/taint.ts";
import { labelsOf, type Taint } from "../policy/taint.ts";

/** A labelled value that an execution read. */
interface TaintSource {
  readonly from: "input" | "node" | "variable" | "memory" | "item" | "previous";
  readonly name: string;
  /** The event that made the value. */
  readonly seq: number;
  readonly labels: readonly string[];
}

/** One event on the way of a label. */
export interface TaintStep {
  readonly seq: number;
  readonly type: string;
  readonly nodeId: string;
  readonly iteration: number;
  readonly labels: readonly string[];
  /** The labels that begin here. */
  readonly added: readonly string[];
  /** The labels that were dropped here, and why. */
  readonly dropped: readonly string[];
  readonly reason: string;
  readonly sources: readonly TaintSource[];
  /** The other run in which the labels began. Empty if they began in this run. */
  readonly runId: string;
}

interface TaintTrace {
  readonly taint: Taint;
  /** In order of the log. */
  readonly steps: readonly TaintStep[];
  readonly isTruncated: boolean;
}

/** At most so many steps are in a trace. It keeps the newest. */
const STEPS_MAX = 500;

const keyOf = (nodeId: string, iteration: number): string => `${nodeId}#${iteration}`;

/** Collects the steps of a run while its log is folded. */
export class TaintTracer {
  readonly #steps = new Map<number, TaintStep>();
  /** The labelled values that the newest claim of an execution read. */
  readonly #claimed = new Map<string, readonly TaintSource[]>();
  /** The newest event about the labels of an execution, of a whole node by index, and the one that found the items of a node. */
  readonly #newest = new Map<string, number>();
  readonly #madeBy = new Map<number, number>();
  readonly #items = new Map<number, number>();
  /** Of a write that was merged into a key: the write before it. */
  readonly #merged = new Map<string, number>();

  /** Notes an event before the fold applies it to `state`. */
  note(state: RunState, event: LoggedFact): void {
    // oxlint-disable-next-line typescript/switch-exhaustiveness-check -- other types say nothing about labels
    switch (event.type) {
      case "run.started":
        if (event.payload.taint !== undefined)
          this.#put(event, {
            labels: labelsOf(event.payload.taint),
            added: labelsOf(event.payload.taint),
            runId: event.payload.parent?.runId ?? "",
          });
        return;
      case "node.started":
        this.#claimed.set(
          keyOf(event.nodeId, event.iteration),
          event.payload.taint === undefined ? [] : this.#readsOf(state, event),
        );
        if (event.payload.taint !== undefined) this.#read(state, event, event.payload.taint);
        return;
      case "node.blocked":
        if (event.payload.reason === TAINT_HOLD) this.#read(state, event, event.payload.taint);
        return;
      case "node.failed":
        if (event.payload.cause === "taint_denied")
          this.#read(state, event, undefined, event.payload.message);
        return;
      case "node.decided":
        if (event.payload.dropped !== undefined) {
          const { dropped, comment } = event.payload;
          this.#put(event, { dropped, reason: comment, sources: this.#before(event) });
        }
        return;
      case "node.completed":
      case "node.expanded":
        this.#noteMerges(state, event);
        return this.#made(state, event);
      case "memory.updated":
        this.#noteMerges(state, event);
        return this.#written(state, event);
      default:
    }
  }

  #put(event: LoggedFact, known: Partial<TaintStep>): void {
    const { seq, type, nodeId, iteration } = event;
    const empty = { labels: [], added: [], dropped: [], reason: "", sources: [], runId: "" };
    this.#steps.set(seq, { seq, type, nodeId, iteration, ...empty, ...known });
    if (nodeId !== "") this.#newest.set(keyOf(nodeId, iteration), seq);
  }

  /** The execution reads labelled data, or a policy stops it before it can. */
  #read(state: RunState, event: LoggedFact, taint: Taint | undefined, reason = ""): void {
    const sources = [...this.#readsOf(state, event), ...this.#answers(event)];
    const labels = labelsOf(taint ?? sources.flatMap(({ labels: all }) => all.map(markOf)));
    this.#put(event, { labels, reason, sources });
  }

  #made(
    state: RunState,
    event: Extract<LoggedFact, { type: "node.completed" | "node.expanded" }>,
  ): void {
    const { nodeId, iteration, payload } = event;
    const index = nodeId === "" ? -1 : (state.graph.indexOf.get(nodeId) ?? -1);
    const execution = executionAt(state, index, iteration);
    const isWhole = iteration === state.nodes[index]?.base;
    if (isWhole && event.type === "node.completed") this.#madeBy.set(index, event.seq);
    if (event.type === "node.expanded") this.#items.set(index, event.seq);
    const sanitized = event.type === "node.completed" ? event.payload.sanitized : undefined;
    if (payload.taint === undefined && (sanitized?.labels.length ?? 0) === 0) return;
    const sources = this.#sourcesOf(state, event, index);
    const inherited = new Set(sources.flatMap(({ labels }) => labels));
    const labels = labelsOf(payload.taint);
    this.#put(event, {
      labels,
      added: labels.filter((label) => !inherited.has(label)),
      dropped: sanitized?.labels ?? [],
      reason: sanitized?.reason ?? "",
      sources,
      runId: execution?.childRunId ?? "",
    });
  }

  /** What an output was made from: the reads of the claim, of the items of a map, or of this moment. */
  #sourcesOf(state: RunState, event: LoggedFact, index: number): readonly TaintSource[] {
    const { nodeId, iteration } = event;
    const node = state.nodes[index];
    if (event.type === "node.completed" && iteration === node?.base && node.scope !== undefined) {
      const { base, scope } = node;
      const items = scope.items.flatMap(({ taint }, at): TaintSource[] => {
        const seq = this.#newest.get(keyOf(nodeId, base + at + 1));
        if (taint === undefined || seq === undefined) return [];
        return [{ from: "item", name: String(at + 1), seq, labels: labelsOf(taint) }];
      });
      const seq = this.#items.get(index);
      const own = labelsOf(scope.itemsTaint);
      if (own.length === 0 || seq === undefined) return items;
      return [{ from: "item", name: "", seq, labels: own }, ...items];
    }
    const execution = executionAt(state, index, iteration);
    if (execution?.childRunId !== undefined) return [];
    const isClaimed = execution?.status === "running" || execution?.status === "waiting";
    const claimed = isClaimed ? this.#claimed.get(keyOf(nodeId, iteration)) : undefined;
    return [...(claimed ?? this.#readsOf(state, event)), ...this.#answers(event)];
  }

  /** The labels of keys come from the event that ended the claim, or from the keys and nodes that an action merged. */
  #written(state: RunState, event: Extract<LoggedFact, { type: "memory.updated" }>): void {
    if (event.payload.taint === undefined) return;
    const labels = labelsOf(Object.values(event.payload.taint).flat());
    const before = this.#before(event);
    const known = new Set(before.flatMap((source) => source.labels));
    const merged = [...state.memory].flatMap(([name, { taint, seq }]): TaintSource[] => {
      const own = labelsOf(taint).filter((label) => labels.includes(label) && !known.has(label));
      return own.length === 0 ? [] : [{ from: "memory", name, seq, labels: own }];
    });
    const nodes = state.nodes.flatMap(({ taint }, index): TaintSource[] => {
      const own = labelsOf(taint).filter((label) => labels.includes(label) && !known.has(label));
      const seq = this.#madeBy.get(index);
      const name = state.graph.nodes[index]?.definition.id ?? "";
      return own.length === 0 || seq === undefined
        ? []
        : [{ from: "node", name, seq, labels: own }];
    });
    const sources = [...before, ...merged, ...nodes];
    const inherited = new Set(sources.flatMap((source) => source.labels));
    const added = labels.filter((label) => !inherited.has(label));
    this.#put(event, { labels, added, sources });
  }

  #noteMerges(state: RunState, event: LoggedFact): void {
    for (const key of writtenKeys(state.graph, event)) {
      const isReplaced =
        event.type === "memory.updated" && event.payload.replaced?.includes(key) === true;
      const before = state.memory.get(key);
      if (before?.taint !== undefined && isMerged(state.graph, { key, isReplaced }))
        this.#merged.set(`${key}@${event.seq}`, before.seq);
    }
  }

  /** The event before, about the same execution. */
  #before({ nodeId, iteration }: LoggedFact): readonly TaintSource[] {
    const seq = this.#newest.get(keyOf(nodeId, iteration));
    const step = seq === undefined ? undefined : this.#steps.get(seq);
    return step === undefined
      ? []
      : [{ from: "node", name: nodeId, seq: step.seq, labels: step.labels }];
  }

  /** The answer of a person who dropped labels of the same execution. It gives no labels, and belongs to the way. */
  #answers({ nodeId, iteration }: LoggedFact): readonly TaintSource[] {
    const seq = this.#newest.get(keyOf(nodeId, iteration)) ?? 0;
    const isAnswer = this.#steps.get(seq)?.type === "node.decided";
    return isAnswer ? [{ from: "node", name: nodeId, seq, labels: [] }] : [];
  }

  #readsOf(
    state: RunState,
    { nodeId, iteration }: Pick<LoggedFact, "nodeId" | "iteration">,
  ): readonly TaintSource[] {
    const index = nodeId === "" ? -1 : (state.graph.indexOf.get(nodeId) ?? -1);
    const base = state.nodes[index]?.base ?? 0;
    return taintedReads(state, index, iteration).map(({ from, name, nodeIndex, taint }) => {
      const made: Readonly<Record<TaintSource["from"], number | undefined>> = {
        input: 1,
        node: this.#madeBy.get(nodeIndex),
        variable: this.#madeBy.get(nodeIndex),
        memory: state.memory.get(name)?.seq,
        item:
          name === ""
            ? this.#items.get(nodeIndex)
            : this.#newest.get(keyOf(nodeId, base + Number(name))),
        previous: this.#newest.get(keyOf(nodeId, iteration - 1)),
      };
      return { from, name, seq: made[from] ?? 0, labels: labelsOf(taint) };
    });
  }

  /** Why an execution is labelled: by its output, or by what it reads as long as it has none. */
  ofNode(state: RunState, nodeIndex: number, iteration: number): TaintTrace {
    const id = state.graph.nodes[nodeIndex]?.definition.id ?? "";
    const execution = executionAt(state, nodeIndex, iteration);
    const taint =
      execution?.status === "completed"
        ? execution.taint
        : (execution?.hold?.ending.taint ?? readTaint(state, nodeIndex, iteration));
    const newest = this.#newest.get(keyOf(id, iteration));
    // A node that has not begun has no event: its trace is that of what it would read.
    const from = newest === undefined ? this.#readsOf(state, { nodeId: id, iteration }) : [];
    return this.#trace(taint ?? [], [newest ?? 0, ...from.map(({ seq }) => seq)]);
  }

  /** Why a key of the memory is labelled. */
  ofKey({ memory }: RunState, key: string): TaintTrace {
    const { taint = [], seq } = memory.get(key) ?? {};
    return this.#trace(taint, this.#writesOf(key, seq));
  }

  /** The write of a key, and the writes before it that its value still contains. */
  #writesOf(key: string, last: number | undefined): number[] {
    const writes: number[] = [];
    for (let seq = last; seq !== undefined; seq = this.#merged.get(`${key}@${seq}`))
      writes.push(seq);
    return writes;
  }

  #trace(taint: Taint, from: readonly number[]): TaintTrace {
    const found = new Map<number, TaintStep>();
    const left = [...from];
    while (left.length > 0) {
      const seq = left.pop() ?? 0;
      const step = this.#steps.get(seq);
      if (step === undefined || found.has(seq)) continue;
      found.set(seq, step);
      for (const { from: kind, name, seq: source } of step.sources) {
        if (kind === "memory") left.push(...this.#writesOf(name, source));
        else left.push(source);
      }
    }
    const steps = [...found.values()].toSorted((a, b) => a.seq - b.seq);
    return { taint, steps: steps.slice(-STEPS_MAX), isTruncated: steps.length > STEPS_MAX };
  }
}

const markOf = (label: string) => ({ label, nodeId: "" }) as const;
