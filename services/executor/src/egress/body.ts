// Reads a response body. The limit counts bytes **after** decompression, so that a small compressed bomb stays small.

import type { Readable } from "node:stream";
import { createBrotliDecompress, createGunzip, createInflate } from "node:zlib";
import { EngineError } from "@pawl/core/fault/engine-error";

/** The whole body as bytes. At the first byte over `bytesMax` it stops reading and destroys the stream. @throws LIMIT_EXCEEDED */
export async function readBody(
  body: Readable,
  options: { readonly encoding: string; readonly bytesMax: number },
): Promise<Buffer> {
  const decoder = decoderOf(options.encoding);
  const source = decoder === undefined ? body : body.pipe(decoder);
  if (decoder !== undefined) body.once("error", (error) => decoder.destroy(error));
  const parts: Buffer[] = [];
  let size = 0;
  try {
    for await (const part of source as AsyncIterable<Buffer>) {
      size += part.length;
      if (size > options.bytesMax) {
        throw new EngineError("LIMIT_EXCEEDED", `more than ${options.bytesMax} bytes`);
      }
      parts.push(part);
    }
  } finally {
    discard(body);
    decoder?.destroy();
  }
  return Buffer.concat(parts, size);
}

/** Stops reading. A later error of the stream is ignored. */
export function discard(body: Readable): void {
  body.on("error", () => undefined);
  body.destroy();
}

function decoderOf(encoding: string): ReturnType<typeof createGunzip> | undefined {
  switch (encoding.trim().toLowerCase()) {
    case "gzip":
    case "x-gzip":
      return createGunzip();
    case "deflate":
      return createInflate();
    case "br":
      return createBrotliDecompress();
    default:
      return undefined;
  }
}
