// How a case fails: which rule, what the kit expected, and what came.

export class BrokenRule extends Error {
  readonly expected: string;
  readonly came: string;
  /** The rule that was broken, if it is not the rule of the case. */
  readonly rule: string | undefined;

  constructor(expected: string, came: string, rule?: string) {
    super(`expected ${expected}; came: ${came}`);
    this.expected = expected;
    this.came = came;
    this.rule = rule;
  }
}

/** Fails the case unless the condition holds. */
export function must(condition: boolean, expected: string, came: unknown): asserts condition {
  if (!condition) throw new BrokenRule(expected, textOf(came));
}

const SHOWN = 600;

/** A value as one short line; protobuf numbers may be bigint. */
export function textOf(value: unknown): string {
  if (typeof value === "string") return value.slice(0, SHOWN);
  const text = JSON.stringify(value, (key, part: unknown) => {
    if (key === "$typeName") return undefined;
    return typeof part === "bigint" ? Number(part) : part;
  });
  return (text ?? "nothing").slice(0, SHOWN);
}
