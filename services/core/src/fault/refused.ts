// A text or value of a user that Pawl does not accept: one of several reasons, and a message for people.

export interface Refused<Reason extends string> {
  readonly ok: false;
  readonly reason: Reason;
  readonly message: string;
}

export const refused = <Reason extends string>(
  reason: Reason,
  message: string,
): Refused<Reason> => ({ ok: false, reason, message });
