// One feed per run page; it stops when the user leaves the page.

import { useEffect, useState, useSyncExternalStore } from "react";
import { watchLog } from "../api/gateway.ts";
import { RunFeed } from "./feed.ts";
import type { FeedState } from "./feed.ts";

const HIDDEN_FRAME_MS = 250;

/** The next frame of a visible page; a slow timer on a hidden page, which gets no frames and would pile up events. */
const nextFrame = (draw: () => void): void => {
  if (document.hidden) window.setTimeout(draw, HIDDEN_FRAME_MS);
  else window.requestAnimationFrame(draw);
};

/** Follows the run as long as the component lives. */
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
