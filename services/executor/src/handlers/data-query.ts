// `dataQuery`: one SQL statement on a named source. Values are bound parameters only. Rows become JSON objects, up to the source's limit.
// On a source that may write, the statement and a record of it commit in one transaction of that database. So a later attempt gets the
// recorded rows and writes nothing. A wrong statement fails permanently. If the database is down or busy, the node may be retried.

import { LIMITS } from "@pawl/core/data/limits";
import { NODE_CONFIGS } from "@pawl/core/definition/node-types";
import { Failed } from "@pawl/core/handler/failure";
import type { QueryAnswer, QueryFailure } from "@pawl/platform/db/query-source";
import { QUERY_LEDGER } from "@pawl/platform/db/query-ledger";
import type { DataSources } from "../sources/data-sources.ts";
import { defineHandler, failedForGood, type Handler, withUnrendered } from "./handler.ts";

/** Makes the handler for the configured sources. */
export const dataQueryHandler = (sources: DataSources): Handler =>
  withUnrendered(
    ["sql"],
    defineHandler({
      type: "dataQuery",
      config: NODE_CONFIGS.dataQuery,
      run: async (_input, { config, ...ctx }) => {
        const source = sources.find(config.source);
        if (source === undefined) {
          const message = `this executor has no data source ${JSON.stringify(config.source)}; the operator adds it to PAWL_DATA_SOURCES`;
          throw failedForGood("unknown_data_source", message);
        }
        const isOnce = source.mode === "read_write" && config.effect !== "none";
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
        const run = async () => {
          const answer = await source.run(asked);
          if (!answer.ok) throw failureOf(answer);
          return outputOf(answer);
        };
        if (!isOnce) return await run();
        const check = `${QUERY_LEDGER} of the data source, under the key ${ctx.effectKey}`;
        return await ctx.once("dataQuery", "transactional", run, { check });
      },
    }),
  );

function outputOf({ fields, rows, rowCount, truncated, isTooLarge }: QueryAnswer) {
  if (isTooLarge) {
    const message = `the rows are larger than ${LIMITS.valueBytes} bytes; select fewer rows or columns`;
    throw failedForGood("output_too_large", message);
  }
  const twice = fields.find((name, index) => fields.indexOf(name) !== index);
  if (twice !== undefined) {
    const message = `two columns are named ${JSON.stringify(twice.slice(0, 64))}; give one another name with "as"`;
    throw failedForGood("query_error", message);
  }
  const objects = rows.map((row) => Object.fromEntries(row.map((cell, at) => [fields[at], cell])));
  return { rows: objects, row_count: rowCount, truncated, fields };
}

function failureOf({ kind, message, sqlState }: QueryFailure): Failed {
  const facts = sqlState === undefined ? {} : { details: { sqlstate: sqlState } };
  switch (kind) {
    case "refused":
      return failedForGood("query_error", message, facts);
    case "timeout":
      return new Failed("query_timeout", message, facts);
    case "cancelled":
      return new Failed("cancelled", message);
    case "unavailable":
    case "transient":
      return new Failed("provider_error", message, facts);
  }
}
