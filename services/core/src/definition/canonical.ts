// Canonical JSON (RFC 8785): one text per value, so that its digest identifies the value. The caller makes the digest, because core has no
// crypto.

import canonicalize from "canonicalize";
import { invariant } from "../fault/invariant.ts";

/** The canonical text of a JSON value: keys sorted, no spaces, numbers in their shortest form. */
export function canonicalJson(value: unknown): string {
  const text = canonicalize(value);
  invariant(text !== undefined, "only JSON values have a canonical text");
  return text;
}
