// The rule for request ids. Gateway and scheduler share it, so the scheduler never refuses an id that the gateway accepted. A request
// id has no spaces: the scheduler gives occurrences of schedules request ids with spaces, and no caller can take one of those.

import { LIMITS } from "@pawl/core/data/limits";
import { invalidField } from "@pawl/core/fault/engine-error";

const VISIBLE_ASCII = /^[\x21-\x7e]+$/;

/** The caller's request id, or null if the caller sent none. @throws INPUT_INVALID */
export function requestIdOf(text: string): string | null {
  if (text === "") return null;
  if (text.length <= LIMITS.requestIdLength && VISIBLE_ASCII.test(text)) return text;
  const rule = `is not 1-${LIMITS.requestIdLength} visible ASCII characters without spaces`;
  throw invalidField("request_id", "BAD_ID", rule);
}
