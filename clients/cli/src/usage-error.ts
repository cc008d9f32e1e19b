// A mistake in how the command was called; nothing was sent.

export class UsageError extends Error {
  override readonly name = "UsageError";
}
