// Keys that act on the whole page, silent while someone types or holds a modifier.

import { useEffect, useRef } from "react";

/** Calls the function named by the pressed key. */
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
