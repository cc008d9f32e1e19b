// Assertions about states that must never happen. A failed assertion is a bug in Pawl: it fails the operation, and no caller catches it.

/** Throws when `condition` does not hold. */
export function invariant(condition: unknown, what: string): asserts condition {
  if (!condition) throw new Error(`invariant broken: ${what}`);
}

/** For the default branch of an exhaustive switch. */
export function unreachable(value: never, what: string): never {
  throw new Error(`invariant broken: unexpected ${what}: ${String(value)}`);
}
