// The address bar as state. A link changes it without loading the page again, and every component that shows a route renders again.

import { type MouseEvent, type ReactNode, useSyncExternalStore } from "react";
import { readRoute, type Route } from "../route.ts";

const listeners = new Set<() => void>();
const notify = (): void => listeners.forEach((listener) => listener());
window.addEventListener("popstate", notify);

/** Changes the route to `path`. `replace` adds no step to the history. */
export function navigate(path: string, how: "push" | "replace" = "push"): void {
  if (path === location.pathname + location.search) return;
  if (how === "push") history.pushState(null, "", path);
  else history.replaceState(null, "", path);
  notify();
}

const subscribe = (listener: () => void): (() => void) => {
  listeners.add(listener);
  return () => listeners.delete(listener);
};
const address = (): string => location.pathname + location.search;

/** The present route. */
export function useRoute(): Route {
  useSyncExternalStore(subscribe, address);
  return readRoute(location.pathname, location.search);
}

/** Follows a link within the console. The browser handles new tabs. */
function followLink(event: MouseEvent<HTMLAnchorElement>): void {
  const plain =
    event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey;
  if (!plain || event.defaultPrevented) return;
  event.preventDefault();
  navigate(event.currentTarget.pathname + event.currentTarget.search);
}

interface LinkProps {
  readonly to: string;
  readonly className?: string;
  readonly current?: boolean;
  readonly children: ReactNode;
}

/** An anchor that changes the route instead of loading a page. */
export function Link({ to, className, current, children }: LinkProps): ReactNode {
  return (
    <a
      href={to}
      className={className}
      aria-current={current === true ? "page" : undefined}
      onClick={followLink}
    >
      {children}
    </a>
  );
}
