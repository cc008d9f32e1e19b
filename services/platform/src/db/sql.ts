// One SQL statement: its name (for traces, and prepared once per connection) and its literal text.

export interface Statement {
  readonly name: string;
  readonly text: string;
}

/** Anything that runs a statement: a pool, a client or a pipelined connection. */
export interface Queryable {
  // The row type is the caller's promise about the statement, here and in `run`.
  // oxlint-disable-next-line typescript/no-unnecessary-type-parameters
  query<Row extends object>(config: {
    readonly name?: string;
    readonly text: string;
    readonly values?: unknown[];
  }): Promise<{ readonly rows: Row[]; readonly rowCount: number | null }>;
}

/** Runs a prepared statement and returns its rows; the caller promises the row type of the statement. */
export async function run<Row extends object>(
  db: Queryable,
  statement: Statement,
  values: unknown[],
): Promise<Row[]> {
  const result = await db.query<Row>({ name: statement.name, text: statement.text, values });
  return result.rows;
}
