// Typed queries. The SQL is a section of the `queries.sql` beside the module that declares the query. The declaration names the type of
// each parameter and of each column. Code passes a parameter `:run_ids` as `runIds` and reads a column `run_id` as `runId`. A query that
// declares columns by their SQL names gives rows in the driver's form. The log is read so, because renaming costs time.
//
// Only tests compare rows and values with their declarations: the test set-up calls `checkQueries`. So a wrong declaration fails a test,
// and the product pays nothing for the comparison.

import { readFileSync } from "node:fs";
import { basename } from "node:path";
import { fileURLToPath } from "node:url";
import { SpanKind } from "@opentelemetry/api";
import { z } from "zod";
import { ATTRIBUTES, SPANS } from "../telemetry/catalogue.ts";
import { inActiveTrace } from "../telemetry/trace.ts";
import { arrayLiteral, type Item } from "./array-literal.ts";
import { compile, namedQueries } from "./sql-text.ts";

/** Runs statements: a pool, a client or a pipelined connection. */
export interface Queryable {
  // The caller states the row type of the statement; `run` takes it from the declaration.
  // oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- the parameter names the rows for callers
  query<Row extends object>(config: {
    readonly name?: string;
    readonly text: string;
    readonly values?: unknown[];
  }): Promise<{ readonly rows: Row[]; readonly rowCount: number | null }>;
}

/** Names and their types (columns.ts). */
export type Shape = Readonly<Record<string, z.ZodType>>;
/** Values by name. */
export type Typed<S extends Shape> = { readonly [Name in keyof S]: z.infer<S[Name]> };

/** A prepared query. */
export interface Query<Given extends Shape = Shape, Columns extends Shape = Shape> {
  /** The name of the prepared statement. It is unique among all queries. */
  readonly name: string;
  readonly text: string;
  /** The names of the values in the order of the text. The first is `$1`. */
  readonly order: readonly string[];
  /** The types of the values. */
  readonly given: Given;
  /** The types of the fields of a row. Empty for a query that returns no rows. */
  readonly columns: Columns;
  /** Whether rows keep the form of the driver. */
  readonly isRaw: boolean;
}

/** A row of a query. */
export type RowOf<Q extends Query> = Typed<Q["columns"]>;

/** A query with its values, in the form that a connection takes. */
interface Call {
  readonly name: string;
  readonly text: string;
  readonly values: unknown[];
}

const known = new Map<string, Query>();
let isChecking = false;

/** From now on every value and every row is compared with its declaration. Only tests call this. */
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
  // The result has the types of the schemas that the query holds.
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

// A list holds texts, numbers, flags and nulls only, because columns.ts has no other type for its items.
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

/** Sends a query of a transaction. Its rows arrive later. A failure also fails the commit. */
export type Send = <Given extends Shape, Columns extends Shape>(
  query: Query<Given, Columns>,
  values: Typed<Given>,
) => Promise<Typed<Columns>[]>;

/** Runs a query and returns its rows. */
export const run = <Given extends Shape, Columns extends Shape>(
  db: Queryable,
  query: Query<Given, Columns>,
  values: Typed<Given>,
): Promise<Typed<Columns>[]> => answered(db, query, bind(query, values));

/**
 * The same without a name, so PostgreSQL plans it for the present size of its tables. A plan that was kept from a tiny table may compare every
 * row with every other one.
 */
export const runPlanned = <Given extends Shape, Columns extends Shape>(
  db: Queryable,
  query: Query<Given, Columns>,
  values: Typed<Given>,
): Promise<Typed<Columns>[]> => {
  const { text, values: ordered } = bind(query, values);
  return answered(db, query, { text, values: ordered });
};

async function answered<Columns extends Shape>(
  db: Queryable,
  query: Query<Shape, Columns>,
  call: Omit<Call, "name">,
): Promise<Typed<Columns>[]> {
  const attributes = { [ATTRIBUTES.dbSystem]: "postgresql", [ATTRIBUTES.dbQuery]: query.name };
  const { rows } = await inActiveTrace(SPANS.query, { kind: SpanKind.CLIENT, attributes }, () =>
    db.query<Readonly<Record<string, unknown>>>(call),
  );
  return rowsOf(query, rows);
}

/** Runs a query and returns its first row, if there is one. */
export const first = async <Given extends Shape, Columns extends Shape>(
  db: Queryable,
  query: Query<Given, Columns>,
  values: Typed<Given>,
): Promise<Typed<Columns> | undefined> => (await run(db, query, values))[0];

/** Turns records into one array for each of some fields. `unnest` makes rows of the arrays. */
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
  // `order` has the names of the values. Each gets the values of its field.
  columns(records, query.order as (keyof Given & string)[]) as Typed<Given>;

/** A record whose fields become the arrays of a query. */
type ItemOf<Given extends Shape> = {
  readonly [Name in keyof Given]: z.infer<Given[Name]> extends readonly (infer Value)[]
    ? Value
    : never;
};
