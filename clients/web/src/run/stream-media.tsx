// Pictures and files that a node streamed.

import type { Media } from "@pawl/core/log/event";
import type { ReactNode } from "react";
import { showMedia } from "./media.ts";

/** Shows them in the order in which they came. */
export function StreamMedia({ media }: { readonly media: readonly Media[] }): ReactNode {
  if (media.length === 0) return null;
  return (
    <>
      <h3>Media</h3>
      <ul className="media">
        {media.map((piece, index) => (
          // Pieces are only appended, so the position is a stable key.
          <li key={index}>
            <Piece piece={piece} />
          </li>
        ))}
      </ul>
    </>
  );
}

function Piece({ piece }: { readonly piece: Media }): ReactNode {
  const shown = showMedia(piece);
  if (shown.kind === "picture")
    return <img src={shown.source} alt={`streamed ${shown.mime}`} loading="lazy" />;
  if (shown.kind === "link")
    return (
      <a href={shown.address} target="_blank" rel="noopener noreferrer">
        {shown.address}
      </a>
    );
  return <span className="muted">{shown.mime || "a file"} (not shown; see the event log)</span>;
}
