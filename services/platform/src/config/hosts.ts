// The host names by which clients may call a port. They protect against DNS rebinding: a page of another site that makes its own name
// resolve to this machine still sends its own name. The service refuses a request that names two hosts, because a proxy may have read the
// other one.

import { isIP } from "node:net";

/** Names that only this machine answers to. */
export const LOOPBACK_NAMES: ReadonlySet<string> = new Set(["127.0.0.1", "localhost", "[::1]"]);

const AUTHORITY = /^(\[[0-9a-f:.]+\]|[^:@/?#\s]+)(?::\d{1,5})?$/i;

/** The host of a `host:port`, in lower case. Empty if there is none. */
export const hostOf = (authority: string): string =>
  AUTHORITY.exec(authority)?.[1]?.toLowerCase() ?? "";

/** Whether a request names more than one host: two Host headers, or a Host that differs from its `:authority`. Takes names and values in turn. */
export function namesTwoHosts(rawHeaders: readonly string[]): boolean {
  let named: string | undefined;
  let hosts = 0;
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const name = rawHeaders[at]?.toLowerCase();
    if (name !== "host" && name !== ":authority") continue;
    const value = rawHeaders[at + 1]?.toLowerCase();
    if (name === "host") hosts += 1;
    if (hosts > 1 || (named !== undefined && named !== value)) return true;
    named = value;
  }
  return false;
}

/** Whether clients may call an inner port by this name: an IP address, which no rebinding sends, or a known name. */
export const isInnerHost = (authority: string, allowed: ReadonlySet<string>): boolean => {
  const host = hostOf(authority);
  const isAddress = isIP(host.replace(/^\[|\]$/g, "")) > 0;
  return isAddress || LOOPBACK_NAMES.has(host) || allowed.has(host);
};
