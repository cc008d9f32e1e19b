// A box that finds nodes of a large graph, with a count of the nodes in each state.

import type { ReactNode } from "react";
import type { DrawnGraph } from "../graph/definition.ts";
import { TallyLine } from "../graph/tally-line.tsx";
import { tally } from "../graph/tally.ts";
import type { Looks } from "./looks.ts";

interface Props {
  readonly graph: DrawnGraph;
  readonly looks: Looks;
  readonly text: string;
  readonly foundIds: readonly string[];
  readonly onText: (text: string) => void;
  readonly onOpen: (key: string) => void;
}

/** Typing marks the nodes that match; Enter opens the first. */
export function FindNode({ graph, looks, text, foundIds, onText, onOpen }: Props): ReactNode {
  const [first] = foundIds;
  return (
    <form
      className="find-node"
      role="search"
      aria-label="Nodes"
      onSubmit={(event) => {
        event.preventDefault();
        if (first !== undefined) onOpen(first);
      }}
    >
      <input
        type="search"
        aria-label="Find a node"
        placeholder="Find a node"
        value={text}
        onChange={({ target }) => onText(target.value)}
      />
      <span className="muted" role="status" data-found={foundIds.length}>
        {text.trim() === ""
          ? `${graph.nodes.length} nodes`
          : `${foundIds.length} of ${graph.nodes.length}`}
      </span>
      <span className="spacer" />
      <TallyLine counts={tally(graph.nodes, looks)} />
    </form>
  );
}
