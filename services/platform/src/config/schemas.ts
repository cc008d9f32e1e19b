// The schemas of a deployment. Statements name tables without a schema; the search path of a connection says where they are. So two
// deployments may share a database, each with schemas of its own.

export interface Schemas {
  /** The engine's tables. */
  readonly engine: string;
  /** pg-boss's tables. */
  readonly queue: string;
}

export const DEFAULT_SCHEMAS: Schemas = { engine: "pawl", queue: "pgboss" };

/** No table of pg-boss has the name of one of ours: both are found. */
export const searchPath = ({ engine, queue }: Schemas): string => `${engine},${queue}`;
