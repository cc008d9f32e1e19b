// Typed queries: the SQL is a section of the `queries.sql` beside the module that declares the query. The declaration names the type of
// each parameter and of each column. A parameter `:run_ids` is passed as `runIds`, and a column `run_id` comes as `runId`. A query that is
// declared with the names of the columns gives rows as the driver does: the log is read so, because the new names cost time.
//
// Only after `checkQueries`, which the test set-up calls, are rows and values compared with their declarations. So a wrong declaration
// fails a test, and the product pays nothing for the comparison.

import { readFileSync } from "node:fs";
import { basename } from "node:path";
import { fileURLToPath } from "node:url";
import { z } from "zod";
import { arrayLiteral, type Item } from "./array-literal.ts";
import { compile, namedQueries } from "./sql-text.ts";

/** Runs statements: a pool, a client or a pipelined connection. */
export interface Queryable {
  // The row type is the caller's promise about the statement; `run` takes it from the declaration.
  // oxlint-disable-next-line typescript/no-unnecessary-type-parameters
  query<Row extends object>(config: {
    readonly name?: string;
    readonly text: string;
    readonly values?: unknown[];
  }): Promise<{ readonly rows: Row[]; readonly rowCount: number | null }>;
}

/** Names and their types (columns.ts). */
type Shape = Readonly<Record<string, z.ZodType>>;
/** Values by name. */
export type Typed<S extends Shape> = { readonly [Name in keyof S]: z.infer<S[Name]> };

/** A prepared query. */
export interface Query<Given extends Shape = Shape, Columns extends Shape = Shape> {
  /** Of the prepared statement; unique among all queries. */
  readonly name: string;
  readonly text: string;
  /** The names of the values in the order of the text: the first is `$1`. */
  readonly order: readonly string[];
  /** The types of the values. */
  readonly given: Given;
  /** The types of the fields of a row; none for a query that gives no rows. */
  readonly columns: Columns;
  /** Whether rows come as the driver gives them. */
  readonly isRaw: boolean;
}

/** A row of a query. */
export type RowOf<Q extends Query> = Typed<Q["columns"]>;

/** A query with its values, as a connection takes it. */
export interface Call {
  readonly name: string;
  readonly text: string;
  readonly values: unknown[];
}

const known = new Map<string, Query>();
let isChecking = false;

/** From here on every value and every row is compared with its declaration. For tests. */
export function checkQueries(): void {
  isChecking = true;
}

/** Every query that a loaded module has declared. */
export const knownQueries = (): readonly Query[] => [...known.values()];

/** Declares a query: its name in the file, the types of its values, the types of its columns. */
type Declare = <const Given extends Shape, const Columns extends Shape = Shape>(
  name: string,
  given: Given,
  columns?: Columns,
) => Query<Given, Columns>;

/** Declares queries of the `queries.sql` in the folder of a module, which passes its `import.meta.url`. */
export function queriesBeside(moduleUrl: string): Declare {
  const file = fileURLToPath(new URL("./queries.sql", moduleUrl));
  const folder = basename(fileURLToPath(new URL(".", moduleUrl)));
  const texts = namedQueries(readFileSync(file, "utf8"));
  const declare = (name: string, given: Shape, row: Shape = {}): Query => {
    const source = texts.get(name);
    if (source === undefined) throw new Error(`${file} has no query ${name}`);
    const { text, parameters } = compile(source);
    const order = parameters.map(camelCase);
    if (order.toSorted().join() !== Object.keys(given).toSorted().join())
      throw new Error(`${file}: ${name} has the parameters ${order.join(", ")}`);
    const statement = `pawl_${folder}_${name}`.replaceAll("-", "_");
    if (known.has(statement)) throw new Error(`two queries have the name ${statement}`);
    const isRaw = Object.keys(row).every((field) => field === field.toLowerCase());
    const query = { name: statement, text, order, given, columns: row, isRaw };
    known.set(statement, query);
    return query;
  };
  // The types of a query are those of its schemas, which are in it.
  return declare as Declare;
}

const camelNames = new Map<string, string>();

/** The name in code of a parameter or column. */
export function camelCase(name: string): string {
  const found = camelNames.get(name);
  if (found !== undefined) return found;
  const made = name.replaceAll(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
  camelNames.set(name, made);
  return made;
}

/** Puts values in the order of the text. */
export function bind<Given extends Shape>(query: Query<Given>, values: Typed<Given>): Call {
  if (isChecking) z.object(query.given).parse(values);
  const byName: Readonly<Record<string, unknown>> = values;
  const ordered = query.order.map((name) => {
    const value = byName[name];
    return isList(value) ? arrayLiteral(value) : value;
  });
  return { name: query.name, text: query.text, values: ordered };
}

// A list holds texts, numbers, flags and nulls only: columns.ts has no other type for its items.
const isList = (value: unknown): value is readonly Item[] => Array.isArray(value);

/** The rows of an answer: columns under their names in code, times in milliseconds since the epoch. */
export function rowsOf<Columns extends Shape>(
  query: Query<Shape, Columns>,
  answer: Readonly<Record<string, unknown>>[],
): Typed<Columns>[] {
  const rows = query.isRaw ? answer : answer.map(named);
  if (isChecking) for (const row of rows) z.strictObject(query.columns).parse(row);
  // Tests compare the rows of every query with its declaration.
  return rows as Typed<Columns>[];
}

function named(row: Readonly<Record<string, unknown>>): object {
  const fields: Record<string, unknown> = {};
  for (const column in row) {
    const value = row[column];
    fields[camelCase(column)] = value instanceof Date ? value.getTime() : value;
  }
  return fields;
}

/** Sends a query of a transaction. Its rows come later; a failure also fails the commit. */
export type Send = <Given extends Shape, Columns extends Shape>(
  query: Query<Given, Columns>,
  values: Typed<Given>,
) => Promise<Typed<Columns>[]>;

/** Runs a query and gives its rows. */
export async function run<Given extends Shape, Columns extends Shape>(
  db: Queryable,
  query: Query<Given, Columns>,
  values: Typed<Given>,
): Promise<Typed<Columns>[]> {
  const { rows } = await db.query<Readonly<Record<string, unknown>>>(bind(query, values));
  return rowsOf(query, rows);
}

/** Runs a query and gives its first row, if any. */
export const first = async <Given extends Shape, Columns extends Shape>(
  db: Queryable,
  query: Query<Given, Columns>,
  values: Typed<Given>,
): Promise<Typed<Columns> | undefined> => (await run(db, query, values))[0];

/** Records as one array for each of some fields: what `unnest` makes rows of. */
export function columns<Record extends object, const Field extends keyof Record & string>(
  records: readonly Record[],
  fields: readonly Field[],
): { readonly [Name in Field]: readonly Record[Name][] } {
  const entries = fields.map((field) => [field, records.map((record) => record[field])]);
  // The keys are the fields, and each holds the values of its field.
  return Object.fromEntries(entries) as { readonly [Name in Field]: readonly Record[Name][] };
}

/** The names of a shape. */
export const fieldsOf = <S extends Shape>(shape: S): readonly (keyof S & string)[] =>
  Object.keys(shape);

/** The values of a query that takes an array of each field of some records. */
export const valuesOf = <Given extends Shape>(
  query: Query<Given>,
  records: readonly ItemOf<Given>[],
): Typed<Given> =>
  // `order` has the names of the values, and each gets the values of its field.
  columns(records, query.order as (keyof Given & string)[]) as Typed<Given>;

/** A record, of which the values of a query are arrays of the fields. */
type ItemOf<Given extends Shape> = {
  readonly [Name in keyof Given]: z.infer<Given[Name]> extends readonly (infer Value)[]
    ? Value
    : never;
};
