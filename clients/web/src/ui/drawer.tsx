// The drawer beside the graph, and the box that finds something in a list.

import type { ReactNode } from "react";
import { useKeys } from "./browser-hooks.ts";

interface DrawerProps {
  readonly label: string;
  readonly title: string;
  readonly onClose: () => void;
  readonly children: ReactNode;
}

/** A drawer with a title. Its button and Escape close it. `data` are attributes for tests. */
export function Drawer({ label, title, onClose, children, ...data }: DrawerProps): ReactNode {
  useKeys({ Escape: onClose });
  return (
    <aside className="panel drawer" aria-label={label} {...data}>
      <header>
        <h2>{title}</h2>
        <button
          type="button"
          className="quiet close"
          aria-label="Close"
          title="Close (Esc)"
          onClick={onClose}
        >
          ✕
        </button>
      </header>
      {children}
    </aside>
  );
}

interface FindProps {
  readonly label: string;
  readonly placeholder?: string;
  readonly text: string;
  readonly onText: (text: string) => void;
}

export function FindBox({ label, placeholder = label, text, onText }: FindProps): ReactNode {
  return (
    <input
      type="search"
      aria-label={label}
      placeholder={placeholder}
      value={text}
      onChange={({ target }) => onText(target.value)}
    />
  );
}
