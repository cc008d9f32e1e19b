// Every query of the platform, its description by PostgreSQL, and its plan.

import { globSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { knownQueries, type Query, type Queryable } from "@pawl/platform/db/query";
import { namedQueries } from "@pawl/platform/db/sql-text";
import type { Client, Submittable } from "pg";

const SOURCES = new URL("../../services/platform/src/", import.meta.url).pathname;

/** Every query that a module declares. */
export async function allQueries(): Promise<readonly Query[]> {
  const folders = globSync("**/queries.sql", { cwd: SOURCES }).map((file) =>
    file.split("/").slice(0, -1),
  );
  for (const folder of folders) {
    const modules = globSync(`${folder.join("/")}/*.ts`, { cwd: SOURCES });
    for (const file of modules.filter((each) => !/\.(test|fixture)\.ts$/.test(each)))
      await import(`${SOURCES}${file}`);
  }
  return knownQueries();
}

/** The names that the `.sql` files give, as prepared statements have them. */
export async function namesInFiles(): Promise<string[]> {
  const names: string[] = [];
  for (const file of globSync("**/queries.sql", { cwd: SOURCES })) {
    const folder = file.split("/").at(-2) ?? "";
    const text = await readFile(`${SOURCES}${file}`, "utf8");
    for (const name of namedQueries(text).keys())
      names.push(`pawl_${folder}_${name}`.replaceAll("-", "_"));
  }
  return names;
}

/** A prepared query as PostgreSQL describes it: the types of its parameters, and its columns with their types. */
interface Described {
  readonly parameters: readonly string[];
  readonly columns: ReadonlyMap<string, string>;
}

/** Prepares a query and asks what it is. */
export async function describe(client: Client, { name, text }: Query): Promise<Described> {
  const description = new Description(name, text);
  client.query(description);
  const names = await description.done;
  const { rows } = await client.query<{ parameters: string[]; results: string[] | null }>(
    `select parameter_types::text[] as parameters, result_types::text[] as results
     from pg_prepared_statements where name = $1`,
    [name],
  );
  const [types] = rows;
  const columns = new Map(names.map((column, at) => [column, types?.results?.[at] ?? ""]));
  return { parameters: types?.parameters ?? [], columns };
}

/** As much of the driver's connection as a description needs; the driver's types leave it out. */
interface Wire {
  parse(query: { readonly name: string; readonly text: string }): void;
  describe(target: { readonly type: "S"; readonly name: string }): void;
  sync(): void;
}

class Description implements Submittable {
  readonly done: Promise<readonly string[]>;
  readonly #settle = Promise.withResolvers<readonly string[]>();
  readonly #name: string;
  readonly #text: string;
  #columns: readonly string[] = [];

  constructor(name: string, text: string) {
    this.#name = name;
    this.#text = text;
    this.done = this.#settle.promise;
  }

  readonly submit = (connection: unknown): void => {
    // The driver hands over its connection under a type that hides the protocol's messages.
    const wire = connection as Wire;
    wire.parse({ name: this.#name, text: this.#text });
    wire.describe({ type: "S", name: this.#name });
    wire.sync();
  };

  handleRowDescription({
    fields,
  }: {
    readonly fields: readonly { readonly name: string }[];
  }): void {
    this.#columns = fields.map((field) => field.name);
  }

  handleError(error: Error): void {
    this.#settle.reject(new Error(`${this.#name}: ${error.message}`));
  }

  handleReadyForQuery(): void {
    this.#settle.resolve(this.#columns);
  }
}

/** A step of a plan that reads a table: how, and what narrows it. */
interface Scan {
  readonly how: string;
  readonly table: string;
  /** False for a walk through a whole index. */
  readonly isNarrowed: boolean;
}

interface PlanNode {
  readonly "Node Type": string;
  readonly "Relation Name"?: string;
  readonly "Index Cond"?: string;
  readonly Plans?: readonly PlanNode[];
}

/** The scans of the plan that a prepared statement gets, whatever its arguments. */
export async function plannedScans(db: Queryable, { text }: Query): Promise<Scan[]> {
  // PostgreSQL plans no utility statement.
  if (text.startsWith("lock table")) return [];
  const explain = `explain (generic_plan, format json) ${text}`;
  const { rows } = await db.query<{ "QUERY PLAN": readonly { readonly Plan: PlanNode }[] }>({
    text: explain,
  });
  return rows.flatMap((row) => row["QUERY PLAN"].flatMap(({ Plan }) => scansOf(Plan)));
}

function scansOf(plan: PlanNode): Scan[] {
  const below = (plan.Plans ?? []).flatMap(scansOf);
  const table = plan["Relation Name"];
  const how = plan["Node Type"];
  if (table === undefined || !how.endsWith("Scan")) return below;
  return [{ how, table, isNarrowed: plan["Index Cond"] !== undefined }, ...below];
}
