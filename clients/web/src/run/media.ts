// How the page shows media that a node streamed. The page does not trust a workflow's text. It draws a picture only from a data: URL
// of a bitmap with a bounded size, so looking at a run loads nothing from elsewhere and runs no script. An address becomes a link. Of
// anything else the page shows only the name.

import type { Media } from "@pawl/core/log/event";

export type ShownMedia =
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
