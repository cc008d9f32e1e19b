// How fresh the page of a live run is: live, or connecting again. A run that has ended has no connection to speak of.

import type { ReactNode } from "react";
import type { Connection } from "./feed.ts";

const TEXT = {
  connecting: "connecting",
  live: "live",
  ended: "ended",
  refused: "not connected",
} as const;

/** A dot and a word; the word changes with the state, so colour is not needed to read it. */
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
