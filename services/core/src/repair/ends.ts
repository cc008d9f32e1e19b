// How the executions of a finished run ended. The replay needs to know it when an execution begins.

import type { RunEvent } from "../log/event.ts";
import { isSettlingType } from "../log/meaning.ts";
import type { RunState } from "../log/state.ts";

/** What the log says about the executions of each node. */
export interface Ends {
  /** The iteration of the node itself in its last round. */
  readonly lastBase: (nodeId: string) => number;
  /** Whether an execution completed. */
  readonly isCompleted: (nodeId: string, iteration: number) => boolean;
  /** Whether the last round of a node has no result that can be reused, not even one of an item. */
  readonly isCutOff: (nodeId: string) => boolean;
  /**
   * Whether some items of the last round of a map or a loop are reused, and others run again. `ofItem`: the question is about an item,
   * which is reused in that case only.
   */
  readonly isPartial: (nodeId: string, iteration: number, ofItem: boolean) => boolean;
}

/** Node types whose completed items can be reused while others run again. */
const ITEMISED: ReadonlySet<string> = new Set(["map", "loop"]);

/**
 * Reads the ends of a log, whose fold is `state`. A node that left by `error` failed, and its workflow continued. It counts as completed
 * only if the workflow handles the failure: an edge leaves the node by that handle.
 */
export function endsOf(events: readonly RunEvent[], { graph, nodes }: RunState): Ends {
  const handling = new Set<string>(
    graph.definition.edges.flatMap((edge) => (edge.sourceHandle === "error" ? edge.source : [])),
  );
  const indexOf: ReadonlyMap<string, number> = graph.indexOf;
  const lastBase = (nodeId: string): number => nodes[indexOf.get(nodeId) ?? -1]?.base ?? 0;
  const ends = new Map<string, string>();
  const expanded = new Set<string>();
  /** Nodes with an item of their last round that did not complete. */
  const broken = new Set<string>();
  for (const { type, nodeId, iteration, payload } of events) {
    if (nodeId === "") continue;
    const isOfItem = iteration > lastBase(nodeId);
    const isError = "handle" in payload && payload.handle === "error";
    const end = isError && (isOfItem || !handling.has(nodeId)) ? "node.failed" : type;
    if (isSettlingType(type)) ends.set(`${nodeId}/${iteration}`, end);
    if (isSettlingType(type) && isOfItem && end !== "node.completed") broken.add(nodeId);
    const { type: nodeType = "" } = graph.nodes[indexOf.get(nodeId) ?? -1]?.definition ?? {};
    if (type === "node.expanded" && iteration === lastBase(nodeId) && ITEMISED.has(nodeType))
      expanded.add(nodeId);
  }
  const endOf = (nodeId: string, iteration: number): string | undefined =>
    ends.get(`${nodeId}/${iteration}`);
  const isWhole = (nodeId: string): boolean =>
    endOf(nodeId, lastBase(nodeId)) === "node.completed" && !broken.has(nodeId);
  return {
    lastBase,
    isCompleted: (nodeId, iteration) => endOf(nodeId, iteration) === "node.completed",
    isCutOff: (nodeId) => {
      const end = endOf(nodeId, lastBase(nodeId));
      return !expanded.has(nodeId) && end !== "node.completed" && end !== "node.skipped";
    },
    isPartial: (nodeId, iteration, ofItem) =>
      expanded.has(nodeId) &&
      !isWhole(nodeId) &&
      (!ofItem || endOf(nodeId, iteration) === "node.completed"),
  };
}

/**
 * The events up to `seq`. Cancellations and ends of rounds at the end are left out: they are parts of one decision, and the planner of the
 * new run takes that decision again.
 */
export function eventsUpTo(events: readonly RunEvent[], seq: number): readonly RunEvent[] {
  const kept = events.filter((event) => event.seq <= seq);
  const isPart = ({ type }: RunEvent) => type === "node.cancelled" || type === "node.invalidated";
  return kept.slice(0, kept.findLastIndex((event) => !isPart(event)) + 1);
}
