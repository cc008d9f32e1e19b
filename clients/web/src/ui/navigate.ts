// The address bar as state: links change it without loading the page again, and everyone who shows a route hears of it.

import { useSyncExternalStore } from "react";
import type { MouseEvent } from "react";
import { readRoute } from "../route.ts";
import type { Route } from "../route.ts";

const listeners = new Set<() => void>();
const tell = (): void => listeners.forEach((listener) => listener());
window.addEventListener("popstate", tell);

/** Goes to `path`. `replace` leaves no step to go back to. */
export function navigate(path: string, how: "push" | "replace" = "push"): void {
  if (path === location.pathname + location.search) return;
  if (how === "push") history.pushState(null, "", path);
  else history.replaceState(null, "", path);
  tell();
}

const subscribe = (listener: () => void): (() => void) => {
  listeners.add(listener);
  return () => listeners.delete(listener);
};
const address = (): string => location.pathname + location.search;

/** Where the reader is now. */
export function useRoute(): Route {
  useSyncExternalStore(subscribe, address);
  return readRoute(location.pathname, location.search);
}

/** Follows a link within the console; leaves new tabs and the like to the browser. */
export function followLink(event: MouseEvent<HTMLAnchorElement>): void {
  const plain =
    event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey;
  if (!plain || event.defaultPrevented) return;
  event.preventDefault();
  navigate(event.currentTarget.pathname + event.currentTarget.search);
}
