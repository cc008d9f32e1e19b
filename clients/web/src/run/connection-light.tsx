// The state of the connection on the page of a live run: live, or connecting again. A run that has ended needs no connection.

import type { ReactNode } from "react";
import type { Connection } from "./feed.ts";

const TEXT = {
  connecting: "connecting",
  live: "live",
  ended: "ended",
  refused: "not connected",
} as const;

/** A dot and a word. The word changes with the state, so a reader does not need the colour. */
export function ConnectionLight({ connection }: { readonly connection: Connection }): ReactNode {
  const text =
    connection.kind === "reconnecting" ? `reconnecting ${connection.tries}` : TEXT[connection.kind];
  return (
    <span
      className={`connection connection-${connection.kind}`}
      role="status"
      data-connection={connection.kind}
    >
      {text}
    </span>
  );
}
