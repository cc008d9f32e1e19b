// A link within the console.

import type { ReactNode } from "react";
import { followLink } from "./navigate.ts";

interface Props {
  readonly to: string;
  readonly className?: string;
  readonly current?: boolean;
  readonly children: ReactNode;
}

/** An anchor that changes the route instead of loading a page. */
export function Link({ to, className, current, children }: Props): ReactNode {
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
