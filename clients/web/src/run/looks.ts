// The look of each node execution, which shows more than its status. A node that failed the run looks different from a node that never ran
// because of it, and from a failure that the workflow handled. A delay looks like waiting until its time is over. Graph, timeline, event
// log and drawer all show these looks. The functions are pure.

import { isFinal, isSettled, type NodeStatus } from "@pawl/core/log/event";
import type { DrawnGraph } from "@pawl/client";
import { nodeKey, type NodeView, type RunView } from "@pawl/core/log/view";

/** `handled`: the node failed and the run continued. `not_run`: the node never ran, because another node failed. */
export type Look = NodeStatus | "handled" | "not_run";

interface NodeLook {
  readonly look: Look;
  /** The time until which a delay holds back the next nodes. */
  readonly releaseAt: number | undefined;
}

/** The looks by key of node execution. */
export type Looks = ReadonlyMap<string, NodeLook>;

export interface Links {
  readonly parents: ReadonlyMap<string, readonly string[]>;
  readonly children: ReadonlyMap<string, readonly string[]>;
}

export function linksOf({ edges }: DrawnGraph): Links {
  const plain = edges.filter(({ loop }) => loop !== true);
  return {
    parents: neighbours(plain, "target", "source"),
    children: neighbours(plain, "source", "target"),
  };
}

type End = "source" | "target";

const neighbours = (edges: DrawnGraph["edges"], of: End, at: End): Links["parents"] =>
  new Map(
    Array.from(
      Map.groupBy(edges, (edge) => edge[of]),
      ([id, own]) => [id, own.map((edge) => edge[at])],
    ),
  );

const UPSTREAM = "upstream_failure";
const plain = (look: Look): NodeLook => ({ look, releaseAt: undefined });

/** The looks of all nodes of a graph, and of their iterations, as of `nowMs` on the clock of the events. */
export function looksOf(graph: DrawnGraph, links: Links, view: RunView, nowMs: number): Looks {
  const looks = new Map<string, NodeLook>();
  const isOver = isFinal(view.status);
  for (const { id } of graph.nodes)
    if (!view.nodes.has(id)) looks.set(id, plain(isOver ? "not_run" : "pending"));
  for (const node of view.nodes.values()) looks.set(node.key, lookOf(node, { links, view, nowMs }));
  return looks;
}

interface Scene {
  readonly links: Links;
  readonly view: RunView;
  readonly nowMs: number;
}

function lookOf(node: NodeView, scene: Scene): NodeLook {
  const { view } = scene;
  if (neverRan(node, view)) return plain("not_run");
  if (node.status === "completed") return lookOfCompleted(node, scene);
  if (isOwnFailure(node) && isHandled(node, scene)) return plain("handled");
  if (node.status === "queued" && isHeldByDelay(node, scene)) return plain("pending");
  return plain(node.status);
}

function lookOfCompleted(node: NodeView, scene: Scene): NodeLook {
  if (node.handle === "error") return plain("handled");
  return isDelaying(node, scene)
    ? { look: "waiting", releaseAt: node.releaseAt }
    : plain("completed");
}

/** The node settled without a start because another node failed. */
function neverRan(node: NodeView, view: RunView): boolean {
  if (node.status === "failed") return node.cause === UPSTREAM;
  const isStarted = node.deliveries.some(({ startedAt }) => startedAt !== undefined);
  return node.status === "cancelled" && view.failedNodeId !== "" && !isStarted;
}

const isOwnFailure = ({ status, cause }: NodeView): boolean =>
  status === "timed_out" || (status === "failed" && cause !== UPSTREAM);

/** The run completed, or every child of the node settled and was not stopped. The node that failed the run was never handled. */
function isHandled(node: NodeView, { links, view }: Scene): boolean {
  if (node.nodeId === view.failedNodeId) return false;
  if (view.status === "completed") return true;
  if (node.item > 0) return view.nodes.get(node.nodeId)?.status === "completed";
  const children = (links.children.get(node.nodeId) ?? []).map((id) => view.nodes.get(id));
  return (
    children.length > 0 &&
    children.every(
      (child) => child !== undefined && isSettled(child.status) && !stopped(child, view),
    )
  );
}

const stopped = (child: NodeView, view: RunView): boolean =>
  child.status === "cancelled" || neverRan(child, view);

/**
 * The node whose failure kept this one from running: the node that failed the run if it is an ancestor, otherwise the nearest failed
 * ancestor.
 */
export function culpritOf(nodeId: string, links: Links, view: RunView): string {
  const seen = new Set([nodeId]);
  let nearest = "";
  for (const id of seen) {
    if (id === view.failedNodeId && id !== nodeId) return id;
    const node = view.nodes.get(id);
    if (nearest === "" && node !== undefined && isOwnFailure(node)) nearest = id;
    for (const parent of links.parents.get(id) ?? []) seen.add(parent);
  }
  return nearest === "" ? view.failedNodeId : nearest;
}

/** The delay is not over: its time has not passed, and no child has started. */
function isDelaying(node: NodeView, { links, view, nowMs }: Scene): boolean {
  if (node.releaseAt === undefined || node.releaseAt <= nowMs || isFinal(view.status)) return false;
  const children = links.children.get(node.nodeId) ?? [];
  return children.every((id) => {
    const status = view.nodes.get(nodeKey(id, 0))?.status ?? "pending";
    return status === "pending" || status === "queued" || status === "skipped";
  });
}

/** A delay before the node set the time of its start. A retry waits for its own backoff instead. */
function isHeldByDelay(node: NodeView, { nowMs }: Scene): boolean {
  const { attempt = 0, notBeforeAt = 0 } = node.deliveries.at(-1) ?? {};
  return attempt === 1 && notBeforeAt > nowMs;
}

/** The round of a node that ran before, as people count: the second one is round 2. "" in the first round. */
export const roundText = ({ round }: NodeView): string => (round > 0 ? `round ${round + 1}` : "");

/** "n/m" of a map or a loop. Only n for a loop that ended early. "" for any other node. */
export const iterationsText = ({ width, settledCount, status }: NodeView): string => {
  if (width === undefined) return "";
  const isEarly = status === "completed" && settledCount < width;
  return isEarly ? String(settledCount) : `${settledCount}/${width}`;
};
