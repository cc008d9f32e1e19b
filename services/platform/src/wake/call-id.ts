// The name of a call that starts a run and waits for its end. A run that is over in the transaction that accepts it is announced with it
// (ADR 36), so that whoever called knows the run for its own without the scheduler's answer.

import { isUuid } from "@pawl/core/name/ids";

const KEY = "pawl-call-id";

/** The metadata of a call by that name. */
export const withCallId = (callId: string): Readonly<Record<string, string>> => ({ [KEY]: callId });

/** The name in the metadata of a call, if it has one. Anything else than a UUID is none: it would be sent to every gateway. */
export function callIdOf(metadata: Readonly<Record<string, string>>): string | undefined {
  const callId = metadata[KEY] ?? "";
  return isUuid(callId) ? callId : undefined;
}
