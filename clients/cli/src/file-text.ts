// Files as people save them. Some editors put a byte order mark before the text; the gateway refuses one in anything that is sent to it, so
// it ends here.

import type { Host } from "./session.ts";

/** The text of a file, or of standard input for "-", without its byte order mark. */
export const readFileText = async (host: Pick<Host, "readText">, path: string): Promise<string> =>
  (await host.readText(path)).replace(/^\ufeff/, "");
