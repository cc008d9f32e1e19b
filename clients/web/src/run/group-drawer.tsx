// The members of a group of equal siblings: failures first, with a box to find one.

import type { ReactNode } from "react";
import { useState } from "react";
import type { DrawnNode } from "../graph/definition.ts";
import { findNodes } from "../graph/find.ts";
import { TallyLine } from "../graph/tally-line.tsx";
import { byUrgency, tally } from "../graph/tally.ts";
import { useKeys } from "../ui/keys.ts";
import { StatusIcon, statusName } from "../ui/status-icon.tsx";
import type { Looks } from "./looks.ts";

interface Props {
  readonly members: readonly DrawnNode[];
  readonly looks: Looks;
  readonly onOpen: (key: string) => void;
  readonly onClose: () => void;
}

const ROWS_MAX = 100;

/** Lists the members; a click opens one. */
export function GroupDrawer({ members, looks, onOpen, onClose }: Props): ReactNode {
  useKeys({ Escape: onClose });
  const [text, setText] = useState("");
  const foundIds = new Set(findNodes({ title: "", nodes: members, edges: [] }, text));
  const wanted = text.trim() === "" ? members : members.filter(({ id }) => foundIds.has(id));
  const shown = byUrgency(wanted, looks).slice(0, ROWS_MAX);
  return (
    <aside className="panel drawer" aria-label="Group" data-group-drawer>
      <header>
        <h2>
          {members.length} × {members[0]?.type}
        </h2>
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
      <p className="drawer-facts">
        <TallyLine counts={tally(members, looks)} />
      </p>
      <input
        type="search"
        aria-label="Find in this group"
        placeholder="Find in this group"
        value={text}
        onChange={({ target }) => setText(target.value)}
      />
      <ul className="members">
        {shown.map(({ id, label }) => {
          const look = looks.get(id)?.look ?? "pending";
          return (
            <li key={id}>
              <button type="button" data-member={id} onClick={() => onOpen(id)}>
                <StatusIcon status={look} />
                <span>{label === "" ? id : label}</span>
                <span className="muted">{statusName(look)}</span>
              </button>
            </li>
          );
        })}
      </ul>
      {wanted.length > shown.length && (
        <p className="muted">… and {wanted.length - shown.length} more; find one above</p>
      )}
      {wanted.length === 0 && <p className="muted">No member matches.</p>}
    </aside>
  );
}
