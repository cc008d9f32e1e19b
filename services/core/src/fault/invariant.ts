// Assertions for what must never happen: a failure is a bug of ours, fails the operation loudly and is never caught to go on.

/** Throws when `condition` does not hold. */
export function invariant(condition: unknown, what: string): asserts condition {
  if (!condition) throw new Error(`invariant broken: ${what}`);
}

/** For the default branch of an exhaustive switch. */
export function unreachable(value: never, what: string): never {
  throw new Error(`invariant broken: unexpected ${what}: ${String(value)}`);
}
