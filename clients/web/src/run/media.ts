// What may be shown of media that a node streamed. A workflow's text is nobody's to trust: a picture is drawn only where it is in
// the page already (a data: URL of a bitmap, bounded), so that looking at a run asks nobody else and runs no script; an address
// becomes a link; anything else is named and not touched.

export interface StreamedMedia {
  readonly url: string;
  readonly mime: string;
}

export type ShownMedia =
  | { readonly kind: "picture"; readonly source: string; readonly mime: string }
  | { readonly kind: "link"; readonly address: string; readonly mime: string }
  | { readonly kind: "named"; readonly mime: string };

/** Media kept of one node; a node that streams more shows its newest. */
export const MEDIA_MAX = 20;
/** Larger pictures are named only. */
const PICTURE_CHARS_MAX = 4 * 1024 * 1024;
/** Bitmaps only: an SVG is a document. */
const PICTURE = /^data:image\/(?:png|jpeg|gif|webp|avif);base64,[A-Za-z0-9+/]+=*$/;

/** How one piece of media is shown. */
export function showMedia({ url, mime }: StreamedMedia): ShownMedia {
  if (url.length <= PICTURE_CHARS_MAX && PICTURE.test(url))
    return { kind: "picture", source: url, mime };
  if (URL.canParse(url) && new URL(url).protocol === "https:")
    return { kind: "link", address: new URL(url).href, mime };
  return { kind: "named", mime };
}
