// What runs statements: a pool, a client or a pipelined connection.

export interface Queryable {
  // The row type is the caller's promise about the statement; `run` (query.ts) takes it from the declaration.
  // oxlint-disable-next-line typescript/no-unnecessary-type-parameters
  query<Row extends object>(config: {
    readonly name?: string;
    readonly text: string;
    readonly values?: unknown[];
  }): Promise<{ readonly rows: Row[]; readonly rowCount: number | null }>;
}
