// What the memory store throws where Postgres refuses a row by a unique index.

/** Carries the SQLSTATE of Postgres, so that callers need not know which store refused. */
export class UniqueViolation extends Error {
  override readonly name = "UniqueViolation";
  readonly code = "23505";
  /** The index that refused, by its name in Postgres. */
  readonly constraint: string;

  constructor(constraint: string, key: string) {
    super(`duplicate key violates ${constraint}: ${key}`);
    this.constraint = constraint;
  }
}
