// Text and media that a node streamed. The page does not trust a workflow's text. It draws a picture only from a data: URL of a bitmap with
// a bounded size. So the page of a run loads nothing from other servers and runs no script. An address becomes a link. For all other media
// the page shows only the name.

import type { Media } from "@pawl/core/log/event";
import { type ReactNode, useLayoutEffect, useRef } from "react";

type ShownMedia =
  | { readonly kind: "picture"; readonly source: string; readonly mime: string }
  | { readonly kind: "link"; readonly address: string; readonly mime: string }
  | { readonly kind: "named"; readonly mime: string };

/** The page does not draw larger pictures. */
const PICTURE_CHARS_MAX = 4 * 1024 * 1024;
/** Bitmaps only: an SVG is a document. */
const PICTURE = /^data:image\/(?:png|jpeg|gif|webp|avif);base64,[A-Za-z0-9+/]+=*$/;

/** How the page shows one piece of media. */
export function showMedia({ url, mime }: Media): ShownMedia {
  if (url.length <= PICTURE_CHARS_MAX && PICTURE.test(url))
    return { kind: "picture", source: url, mime };
  if (URL.canParse(url) && new URL(url).protocol === "https:")
    return { kind: "link", address: new URL(url).href, mime };
  return { kind: "named", mime };
}

/** Shows the media in the order in which they came. */
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

const NEAR_PX = 24;

/** Streamed text, with a caret while more may come. */
export function StreamText({
  text,
  isLive,
}: {
  readonly text: string;
  readonly isLive: boolean;
}): ReactNode {
  const box = useRef<HTMLPreElement>(null);
  const follows = useRef(true);
  useLayoutEffect(() => {
    const element = box.current;
    if (element !== null && follows.current) element.scrollTop = element.scrollHeight;
  }, [text]);
  return (
    <>
      <h3>Stream</h3>
      <pre
        ref={box}
        tabIndex={0}
        className={isLive ? "stream is-live" : "stream"}
        data-stream={isLive ? "live" : "done"}
        onScroll={({ currentTarget: at }) => {
          follows.current = at.scrollHeight - at.scrollTop - at.clientHeight < NEAR_PX;
        }}
      >
        {text}
      </pre>
    </>
  );
}
