// The state of the page of a run: its feed, the looks of its nodes, and the graph as the page draws it.

import { useEffect, useMemo, useState, useSyncExternalStore } from "react";
import { watchLog } from "../api/gateway.ts";
import { type FeedState, RunFeed } from "./feed.ts";
import { isFinal } from "@pawl/core/log/event";
import { findNodes } from "../graph/definition.ts";
import { type DrawnGraph } from "@pawl/client";
import { useNow } from "../ui/browser-hooks.ts";
import { type Links, linksOf, type Looks, looksOf } from "./looks.ts";
import type { RunView } from "@pawl/core/log/view";
import { type FoldedGraph, foldGraph } from "../graph/fold.ts";

const HIDDEN_FRAME_MS = 250;

/** The next frame of a visible page. A hidden page gets no frames and would collect events, so it uses a slow timer. */
const nextFrame = (draw: () => void): void => {
  if (document.hidden) window.setTimeout(draw, HIDDEN_FRAME_MS);
  else window.requestAnimationFrame(draw);
};

export function useRunFeed(runId: string): FeedState {
  const [feed, setFeed] = useState(() => new RunFeed(watchLog(runId), nextFrame));
  useEffect(() => {
    const fresh = new RunFeed(watchLog(runId), nextFrame);
    setFeed(fresh);
    void fresh.start(); // never rejects: a refusal is a state
    return () => fresh.stop();
  }, [runId]);
  return useSyncExternalStore(feed.subscribe, feed.snapshot);
}

const TICK_MS = 1000;

/** The parts of a run's page that most components need. */
export interface RunScene {
  readonly runId: string;
  readonly graph: DrawnGraph;
  readonly view: RunView;
  readonly runLooks: RunLooks;
  /** The node execution or the group whose drawer is open. "" for none. */
  readonly openKey: string;
  readonly onOpen: (key: string) => void;
}

interface RunLooks {
  readonly links: Links;
  readonly looks: Looks;
  /** The time of the looks, on the clock of the events. */
  readonly nowMs: number;
}

/** The present looks. `clockSkewMs` is how far the database's clock is ahead. */
export function useLooks(graph: DrawnGraph, view: RunView, clockSkewMs: number): RunLooks {
  const presentMs = Date.now() + clockSkewMs;
  const isDelaying =
    !isFinal(view.status) &&
    [...view.nodes.values()].some(({ releaseAt = 0 }) => releaseAt > presentMs);
  const tickMs = useNow(TICK_MS, isDelaying) + clockSkewMs;
  const links = useMemo(() => linksOf(graph), [graph]);
  return useMemo(() => {
    // While no delay counts down the tick does not move, so the real time may be later.
    const nowMs = Math.max(tickMs, Date.now() + clockSkewMs);
    return { links, looks: looksOf(graph, links, view, nowMs), nowMs };
  }, [graph, links, view, tickMs, clockSkewMs]);
}

/** The most nodes of each kind that stay unfolded; with more, the graph would be as long as before. */
const APART_MAX = 5;
const FAILURES: ReadonlySet<string> = new Set(["failed", "timed_out", "handled"]);

/** Folds `graph`, except for the open node, the nodes that match `text`, and the failed nodes. */
export function useFolded(
  graph: DrawnGraph,
  looks: Looks,
  openId: string,
  text: string,
): { readonly folded: FoldedGraph; readonly foundIds: readonly string[] } {
  const foundIds = useMemo(() => findNodes(graph, text), [graph, text]);
  const failed = graph.nodes.filter(({ id }) => FAILURES.has(looks.get(id)?.look ?? ""));
  const apart = [
    openId,
    ...foundIds.slice(0, APART_MAX),
    ...failed.slice(0, APART_MAX).map(({ id }) => id),
  ].join(" ");
  const folded = useMemo(() => foldGraph(graph, new Set(apart.split(" "))), [graph, apart]);
  return { folded, foundIds };
}
