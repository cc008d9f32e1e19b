// The time, ticking only while something on the page still moves.

import { useEffect, useState } from "react";

/** The present in milliseconds, renewed every `everyMs` while `ticking`. */
export function useNow(everyMs: number, ticking: boolean): number {
  const [nowMs, setNowMs] = useState(() => Date.now());
  useEffect(() => {
    if (!ticking) return undefined;
    const timer = window.setInterval(() => setNowMs(Date.now()), everyMs);
    return () => window.clearInterval(timer);
  }, [everyMs, ticking]);
  return nowMs;
}
