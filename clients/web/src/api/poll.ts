// Polls while the page is visible: at once, then some time after each answer. A hidden page does not poll, and polls at once when it is shown
// again. One call is open at a time, and the answer of a stopped poll is dropped.

import { useEffect, useRef, useState } from "react";
import { type Fault, readFault } from "./fault.ts";

export interface Polled<T> {
  /** The newest answer. It stays if a later call fails. */
  readonly value: T | undefined;
  readonly fault: Fault | undefined;
}

type Kept<T> = Polled<T> & { readonly key: string };

/** Polls `ask`. A new `key` drops the old answer. With `everyMs` 0 it polls until the first answer. */
export function usePoll<T>(
  key: string,
  everyMs: number,
  ask: (signal: AbortSignal) => Promise<T>,
): Polled<T> {
  const [kept, setKept] = useState<Kept<T>>({ key, value: undefined, fault: undefined });
  const latest = useRef(ask);
  latest.current = ask;
  useEffect(() => {
    const stop = new AbortController();
    let timer = 0;
    let isAsking = false;
    let isAnswered = false;
    const again = (ms: number): void => {
      timer = window.setTimeout(turn, ms);
    };
    const turn = (): void => {
      window.clearTimeout(timer);
      if (document.hidden || isAsking || (everyMs === 0 && isAnswered)) return;
      void question(); // never rejects: a fault is shown
    };
    const question = async (): Promise<void> => {
      isAsking = true;
      try {
        const value = await latest.current(stop.signal);
        if (stop.signal.aborted) return;
        isAnswered = true;
        setKept({ key, value, fault: undefined });
        if (everyMs > 0) again(everyMs);
      } catch (error) {
        if (stop.signal.aborted) return;
        const fault = readFault(error);
        setKept((old) => ({ key, value: old.key === key ? old.value : undefined, fault }));
        if (fault.retryable || everyMs > 0) again(Math.max(everyMs, RETRY_MS));
      } finally {
        isAsking = false;
      }
    };
    document.addEventListener("visibilitychange", turn);
    turn();
    return () => {
      stop.abort();
      window.clearTimeout(timer);
      document.removeEventListener("visibilitychange", turn);
    };
  }, [key, everyMs]);
  return kept.key === key ? kept : { value: undefined, fault: undefined };
}

const RETRY_MS = 1500;
