// Filters of runs, as callers send them.

import { EngineError } from "@pawl/core/fault/engine-error";
import type { FilterFault } from "@pawl/core/filter/ast";
import { parseFilter } from "@pawl/core/filter/parse";
import { printFilter } from "@pawl/core/filter/print";
import { RUN_FIELDS } from "@pawl/core/filter/run-fields";
import { type FieldType, type TypedFilter, typeFilter } from "@pawl/core/filter/typed";
import { nameOf, optionalName } from "./fields.ts";
import { toTimestamp } from "./scalar.ts";
import type { KeptFilter } from "../store/filters/filters.ts";

interface ReadFilter {
  /** The filter in one form. */
  readonly text: string;
  readonly typed: TypedFilter;
}

/** A filter that fits the fields of runs. @throws FILTER_INVALID */
export const runFilterOf = (field: string, text: string): ReadFilter =>
  filterOf(field, text, RUN_FIELDS);

/** A filter that fits the fields of a list. @throws FILTER_INVALID */
export function filterOf(
  field: string,
  text: string,
  fields: Readonly<Record<string, FieldType>>,
): ReadFilter {
  const read = parseFilter(text);
  if (!read.ok) throw filterInvalid(field, read.fault);
  const typed = typeFilter(text, read.made, fields);
  if (!typed.ok) throw filterInvalid(field, typed.fault);
  return { text: printFilter(read.made), typed: typed.made };
}

/** The filter of a request, and the kept filter that must hold as well. */
interface AskedFilter {
  readonly filter: string;
  readonly savedFilter: string;
}

/**
 * Both filters of a request as one. Undefined if it has none. `find` reads a kept filter.
 * @throws INPUT_INVALID, FILTER_INVALID, RUN_FILTER_NOT_FOUND, and what `find` throws
 */
export async function wholeFilter(
  { filter, savedFilter }: AskedFilter,
  find: (name: string) => Promise<Pick<KeptFilter, "filter"> | undefined>,
): Promise<ReturnType<typeof runFilterOf> | undefined> {
  const name = optionalName("saved_filter", savedFilter);
  const given = filter.trim() === "" ? undefined : runFilterOf("filter", filter);
  if (name === "") return given;
  const kept = await find(name);
  if (kept === undefined) throw filterNotFound(name);
  const both = given === undefined ? kept.filter : `(${given.text}) AND (${kept.filter})`;
  return runFilterOf("saved_filter", both);
}

function filterInvalid(field: string, { line, column, message }: FilterFault): EngineError {
  const description = `line ${line}, column ${column}: ${message}`;
  return new EngineError("FILTER_INVALID", `${field}: ${description}`, {
    metadata: { field, line: String(line), column: String(column) },
    violations: [{ field, reason: "FILTER_SYNTAX", description }],
  });
}

/** A filter to keep. @throws INPUT_INVALID, FILTER_INVALID */
export function parseSaveFilter({
  name,
  filter,
}: {
  readonly name: string;
  readonly filter: string;
}) {
  runFilterOf("filter", filter);
  return { name: nameOf("name", name), filter };
}

export const filterNotFound = (name: string): EngineError =>
  new EngineError("RUN_FILTER_NOT_FOUND", `There is no filter ${name}.`, {
    metadata: { run_filter: name },
  });

export const toWireRunFilter = ({ name, filter, createdAt, updatedAt }: KeptFilter) => ({
  name,
  filter,
  createTime: toTimestamp(createdAt),
  updateTime: toTimestamp(updatedAt),
});
