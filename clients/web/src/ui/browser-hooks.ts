// Hooks over the browser: the time, media queries, the title of the tab, keys, and the submit of a form.

import { type FormEvent, useEffect, useRef, useState, useSyncExternalStore } from "react";

/** The present time in milliseconds, updated every `everyMs` while `ticking`. */
export function useNow(everyMs: number, ticking: boolean): number {
  const [nowMs, setNowMs] = useState(() => Date.now());
  useEffect(() => {
    if (!ticking) return undefined;
    const timer = window.setInterval(() => setNowMs(Date.now()), everyMs);
    return () => window.clearInterval(timer);
  }, [everyMs, ticking]);
  return nowMs;
}

export function useMedia(query: string): boolean {
  return useSyncExternalStore(
    (listener) => {
      const list = window.matchMedia(query);
      list.addEventListener("change", listener);
      return () => list.removeEventListener("change", listener);
    },
    () => window.matchMedia(query).matches,
  );
}

/** Sets the title of the tab. */
export function useTitle(title: string): void {
  useEffect(() => {
    document.title = title === "" ? "Pawl" : `${title} · Pawl`;
  }, [title]);
}

/** Calls the function of the pressed key, except while the reader types or holds a modifier. */
export function useKeys(keys: Readonly<Record<string, () => void>>): void {
  const latest = useRef(keys);
  latest.current = keys;
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      const typing =
        event.target instanceof Element &&
        event.target.closest("input, textarea, select, dialog") !== null;
      if (typing || event.metaKey || event.ctrlKey || event.altKey) return;
      const act = latest.current[event.key];
      if (act === undefined) return;
      event.preventDefault();
      act();
    };
    document.addEventListener("keydown", onKey);
    return () => document.removeEventListener("keydown", onKey);
  }, []);
}

/** Handles the submit of a form without loading a page. */
export const submitting =
  (act: () => unknown) =>
  (event: FormEvent): void => {
    event.preventDefault();
    act();
  };
