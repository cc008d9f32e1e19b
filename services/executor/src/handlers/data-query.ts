// `dataQuery`: one SQL statement on a named source. Values are bound parameters only; rows become JSON objects, up to the source's
// limit. On a source that may write, the statement and a record of it commit in one transaction of that database, so a later attempt
// gets the recorded rows and writes nothing. A wrong statement fails for good; a database that is away or busy may be asked again.

import { LIMITS } from "@pawl/core/data/limits";
import { NODE_CONFIGS } from "@pawl/core/definition/node-types";
import type { QueryAnswer, QueryFailure } from "@pawl/platform/db/query-source";
import { QUERY_LEDGER } from "@pawl/platform/db/query-ledger";
import type { DataSources } from "../sources/data-sources.ts";
import { once } from "./effects.ts";
import {
  defineHandler,
  failure,
  permanentFailure,
  type Handler,
  type HandlerFailure,
  type HandlerResult,
} from "./handler.ts";

/** Makes the handler for the configured sources. */
export const dataQueryHandler = (sources: DataSources): Handler =>
  defineHandler({
    type: "dataQuery",
    config: NODE_CONFIGS.dataQuery,
    unrendered: ["sql"],
    execute: async (config, ctx) => {
      const source = sources.find(config.source);
      if (source === undefined) {
        const message = `this executor has no data source ${JSON.stringify(config.source)}; the operator adds it to PAWL_DATA_SOURCES`;
        return permanentFailure("unknown_data_source", message);
      }
      const isOnce = source.mode === "read_write" && config.effect !== "none";
      const run = async (): Promise<HandlerResult> => {
        const answer = await source.run(asked);
        return answer.ok ? resultOf(answer) : failureOf(answer);
      };
      const asked = {
        sql: config.sql,
        parameters: config.parameters,
        maxRows: Math.min(config.max_rows ?? source.maxRows, source.maxRows),
        // A larger set of rows cannot be an output.
        bytesMax: LIMITS.valueBytes,
        timeoutMs: Math.min(config.timeout_ms ?? source.timeoutMs, ctx.timeoutMs),
        signal: ctx.signal,
        ...(isOnce ? { onceKey: ctx.effectKey } : {}),
      };
      if (!isOnce) return await run();
      const check = `${QUERY_LEDGER} of the data source, under the key ${ctx.effectKey}`;
      return await once(ctx, { name: "dataQuery", class: "transactional", check }, run);
    },
  });

function resultOf({ fields, rows, rowCount, truncated, isTooLarge }: QueryAnswer): HandlerResult {
  if (isTooLarge) {
    const message = `the rows are larger than ${LIMITS.valueBytes} bytes; select fewer rows or columns`;
    return permanentFailure("output_too_large", message);
  }
  const twice = fields.find((name, index) => fields.indexOf(name) !== index);
  if (twice !== undefined) {
    const message = `two columns are named ${JSON.stringify(twice.slice(0, 64))}; give one another name with "as"`;
    return permanentFailure("query_error", message);
  }
  const objects = rows.map((row) => Object.fromEntries(row.map((cell, at) => [fields[at], cell])));
  return { output: { rows: objects, row_count: rowCount, truncated, fields } };
}

function failureOf({ kind, message, sqlState }: QueryFailure): HandlerFailure {
  const details = sqlState === undefined ? undefined : { sqlstate: sqlState };
  switch (kind) {
    case "refused":
      return permanentFailure("query_error", message, details);
    case "timeout":
      return failure("query_timeout", message, details);
    case "cancelled":
      return failure("cancelled", message);
    case "unavailable":
    case "transient":
      return failure("provider_error", message, details);
  }
}
