// A cause and its message as one text.

/** Many messages begin with their cause. */
export function causeText({ cause, message }: Cause): string {
  if (cause === "" || message === "") return message || cause;
  return message.startsWith(cause) ? message : `${cause}: ${message}`;
}

interface Cause {
  readonly cause: string;
  readonly message: string;
}
