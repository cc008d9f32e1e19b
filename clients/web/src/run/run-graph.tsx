// The graph of a run with equal siblings folded, the box that finds a node, and the drawer of a group.

import { type ReactNode, useMemo, useState } from "react";
import { type FoldedGraph, FOLD_FROM } from "../graph/fold.ts";
import { LazyGraph } from "../graph/lazy-graph.tsx";
import type { RunScene } from "./use-run.ts";
import { submitting } from "../ui/browser-hooks.ts";
import { Drawer, FindBox } from "../ui/drawer.tsx";
import { byUrgency, tally, TallyLine } from "../graph/tally.tsx";
import { findNodes } from "../graph/definition.ts";
import { type DrawnNode } from "@pawl/client";
import { labelsIn, TAINT_SIGN } from "../graph/taint.ts";
import { StatusIcon, statusName } from "../ui/status-icon.tsx";
import type { Looks } from "./looks.ts";

interface Props extends RunScene {
  readonly folded: FoldedGraph;
  readonly text: string;
  readonly foundIds: readonly string[];
  readonly onText: (text: string) => void;
}

export function RunGraph(props: Props): ReactNode {
  const { graph, folded, view, runLooks, openKey, foundIds, onOpen } = props;
  const { looks, nowMs } = runLooks;
  const run = useMemo(() => ({ nodes: view.nodes, looks, nowMs }), [view.nodes, looks, nowMs]);
  const found = useMemo(() => new Set(foundIds), [foundIds]);
  return (
    <section className="panel graph-panel" aria-label="Graph">
      {graph.nodes.length > FOLD_FROM && <FindNode {...props} />}
      <LazyGraph graph={folded} run={run} openKey={openKey} foundIds={found} onOpen={onOpen} />
      {labelsIn([...view.nodes.values()]) !== "" && (
        <p className="graph-legend" data-legend="taint">
          <span className="graph-legend-line" aria-hidden="true" /> {TAINT_SIGN} untrusted data on
          its way; the words at the nodes are its labels
        </p>
      )}
    </section>
  );
}

/** Marks the nodes that match the typed text. Enter opens the first. */
function FindNode({ graph, runLooks, text, foundIds, onText, onOpen }: Props): ReactNode {
  const [first] = foundIds;
  return (
    <form
      className="find-node"
      role="search"
      aria-label="Nodes"
      onSubmit={submitting(() => first !== undefined && onOpen(first))}
    >
      <FindBox label="Find a node" text={text} onText={onText} />
      <span className="muted" role="status" data-found={foundIds.length}>
        {text.trim() === ""
          ? `${graph.nodes.length} nodes`
          : `${foundIds.length} of ${graph.nodes.length}`}
      </span>
      <span className="spacer" />
      <TallyLine counts={tally(graph.nodes, runLooks.looks)} />
    </form>
  );
}

interface GroupProps {
  readonly members: readonly DrawnNode[];
  readonly looks: Looks;
  readonly onOpen: (key: string) => void;
  readonly onClose: () => void;
}

const ROWS_MAX = 100;

export function GroupDrawer({ members, looks, onOpen, onClose }: GroupProps): ReactNode {
  const [text, setText] = useState("");
  const foundIds = new Set(findNodes({ title: "", nodes: members, edges: [] }, text));
  const wanted = text.trim() === "" ? members : members.filter(({ id }) => foundIds.has(id));
  const shown = byUrgency(wanted, looks).slice(0, ROWS_MAX);
  return (
    <Drawer
      label="Group"
      title={`${members.length} × ${members[0]?.type}`}
      onClose={onClose}
      data-group-drawer
    >
      <p className="drawer-facts">
        <TallyLine counts={tally(members, looks)} />
      </p>
      <FindBox label="Find in this group" text={text} onText={setText} />
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
    </Drawer>
  );
}
