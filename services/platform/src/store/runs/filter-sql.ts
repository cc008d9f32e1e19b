// Compiles a filter of runs to SQL. Values are parameters, and no text of a user becomes a part of the statement. It is pure.
//
// SQL knows a third answer, null. A comparison with a column that is null gives it. AND, OR and the end of a `where` treat it as false, and
// NOT is written as `is not true`. So the result is that of a filter with two answers.
//
// Cost. A comparison of metadata with `=` or `:` walks the index run_metadata_values, unless its path names a place in a list. A live
// status walks runs_deadline, which holds live runs only. A class of failures walks runs_failed, which holds the runs that ended without
// completing. A thread walks runs_of_thread. `workflow`, `schedule` and the newest runs have their own indexes. Everything else is a test of
// each run, newest first, until the page is full. A test of `input` also reads the first event of each run.

import { unreachable } from "@pawl/core/fault/invariant";
import type { RunField } from "@pawl/core/filter/run-fields";
import { FINAL_STATUSES } from "@pawl/core/log/event";
import type { FieldTest, JsonScalar, Pattern, TypedFilter } from "@pawl/core/filter/typed";

/** A condition about the rows `r` of runs and `m` of run_metadata, with the values of its parameters. */
interface Condition {
  readonly sql: string;
  readonly values: readonly unknown[];
}

/** Compiles a filter. Its first parameter has the number after `taken`. */
export function filterSql(filter: TypedFilter, taken: number): Condition {
  const values: unknown[] = [];
  const parameter = (value: unknown): string => {
    values.push(value);
    return `$${taken + values.length}`;
  };
  return { sql: sqlOf(filter, parameter), values };
}

type Parameter = (value: unknown) => string;

function sqlOf(filter: TypedFilter, parameter: Parameter): string {
  if (filter.is === "and" || filter.is === "or")
    return `(${filter.parts.map((part) => sqlOf(part, parameter)).join(` ${filter.is} `)})`;
  if (filter.is === "not") return `(${sqlOf(filter.part, parameter)} is not true)`;
  return testSql(filter, parameter);
}

const SECONDS = "extract(epoch from coalesce(r.ended_at, now()) - r.created_at)";
/** PostgreSQL's jsonb has no U+0000 and no number such as 1e-20000. An input with one has no value for a filter. */
const INPUT = `(select case when pg_input_is_valid(e.value::text, 'jsonb') then e.value::jsonb end from run_events e where e.run_id = r.run_id and e.seq = 1)`;

const COLUMNS: Readonly<Record<RunField, string>> = {
  status: "r.status",
  stop: "r.stop",
  workflow: "r.workflow_id",
  version: "r.workflow_version",
  kind: "r.kind",
  schedule: "r.schedule_id",
  thread: "r.thread_id",
  assistant: "r.assistant_id",
  parent: "r.parent_run_id::text",
  priority: "r.priority",
  has_failures: "r.has_failures",
  is_live: "(r.ended_at is null)",
  error: "r.error_message",
  failure_class: "r.failure_class",
  create_time: "r.created_at",
  end_time: "r.ended_at",
  duration: `${SECONDS} * 1000`,
  metadata: "m.metadata",
  input: INPUT,
};

const isLive = (status: string): boolean => !FINAL_STATUSES.has(status);
/** A number is also a place in a list. */
const namesPlace = (path: readonly string[]): boolean => path.some((key) => /^-?\d+$/.test(key));

function testSql(test: FieldTest, parameter: Parameter): string {
  // The filter was typed with the fields of runs.
  const column = COLUMNS[test.field as RunField];
  switch (test.is) {
    case "choice": {
      // An index keeps its order behind one value only.
      const sql =
        test.values.length === 1
          ? `${column} = ${parameter(test.values[0])}::text`
          : `${column} = any (${parameter(test.values)}::text[])`;
      const isOfLive = test.field === "status" && test.values.every(isLive);
      return isOfLive ? `(${sql} and r.ended_at is null)` : sql;
    }
    case "text":
      return matchSql(column, test.pattern, parameter);
    case "contains":
      return `strpos(lower(${column}), lower(${parameter(test.text)}::text)) > 0`;
    case "number":
      return `${column} ${test.order} ${parameter(test.value)}::double precision`;
    case "duration":
      return `${column} ${test.order} ${parameter(test.value)}::double precision`;
    case "time":
      return `floor(extract(epoch from ${column}) * 1000) ${test.order} ${parameter(test.value)}::double precision`;
    case "flag":
      return test.value ? column : `(not ${column})`;
    case "present":
      return `${column} is not null`;
    case "json_present":
      return `${column} #> ${parameter(test.path)}::text[] is not null`;
    case "json_equals":
      if (namesPlace(test.path))
        return `${column} #> ${parameter(test.path)}::text[] = ${parameter(JSON.stringify(test.value))}::jsonb`;
      return `${column} @> ${parameter(nested(test.path, test.value))}::jsonb`;
    case "json_has":
      // A list contains a scalar. A scalar contains itself.
      if (namesPlace(test.path))
        return `(${column} #> ${parameter(test.path)}::text[]) @> ${parameter(JSON.stringify(test.value))}::jsonb`;
      return `(${column} @> ${parameter(nested(test.path, test.value))}::jsonb or ${column} @> ${parameter(nested(test.path, [test.value]))}::jsonb)`;
    case "json_text": {
      const path = `${parameter(test.path)}::text[]`;
      return `(jsonb_typeof(${column} #> ${path}) = 'string' and ${matchSql(`(${column} #>> ${path})`, test.pattern, parameter)})`;
    }
    case "json_order": {
      // A double has no 1e-400. A cast to it would raise an error for all runs.
      const path = `${parameter(test.path)}::text[]`;
      return `case when jsonb_typeof(${column} #> ${path}) = 'number' then (${column} #>> ${path})::numeric ${test.order} ${parameter(test.value)}::numeric end`;
    }
    default:
      return unreachable(test, "test");
  }
}

/** The JSON of objects inside each other, with the value in the innermost. */
const nested = (path: readonly string[], value: JsonScalar | readonly JsonScalar[]): string =>
  JSON.stringify(
    path.reduceRight<unknown>((inner, key) => Object.fromEntries([[key, inner]]), value),
  );

function matchSql(column: string, pattern: Pattern, parameter: Parameter): string {
  const { text, opensStart, opensEnd } = pattern;
  if (!opensStart && !opensEnd) return `${column} = ${parameter(text)}::text`;
  const literal = text.replaceAll(/[\\%_]/g, String.raw`\$&`);
  return `${column} like ${parameter(`${opensStart ? "%" : ""}${literal}${opensEnd ? "%" : ""}`)}::text`;
}
