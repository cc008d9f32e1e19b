// The looks of a run, computed again with its events, and every second while a delay counts down.

import { isFinal } from "@pawl/core/log/event";
import { useMemo } from "react";
import type { DrawnGraph } from "../graph/definition.ts";
import { useNow } from "../ui/now.ts";
import { linksOf, looksOf } from "./looks.ts";
import type { Links, Looks } from "./looks.ts";
import type { RunView } from "@pawl/core/log/view";

const TICK_MS = 1000;

export interface RunLooks {
  readonly links: Links;
  readonly looks: Looks;
  /** The time of the looks, on the clock of the events. */
  readonly nowMs: number;
}

/** The present looks; `clockSkewMs` is how far the database's clock is ahead. */
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
