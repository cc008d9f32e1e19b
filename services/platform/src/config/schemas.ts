// The schemas of a deployment. Statements name tables without a schema, and the search path of a connection selects the schemas. So two
// deployments can share a database.

export interface Schemas {
  /** The engine's tables. */
  readonly engine: string;
  /** pg-boss's tables. */
  readonly queue: string;
}

export const DEFAULT_SCHEMAS: Schemas = { engine: "pawl", queue: "pgboss" };

/** No table of pg-boss has the name of a table of ours, so one search path finds both. */
export const searchPath = ({ engine, queue }: Schemas): string => `${engine},${queue}`;
