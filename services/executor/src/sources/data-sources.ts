// The databases that dataQuery nodes may query, by name. They belong to the operator. Pawl's own database is not among them.

import { LIMITS } from "@pawl/core/data/limits";
import type { DeepReadonly } from "@pawl/platform/config/env";
import { databaseUrl } from "@pawl/platform/config/settings";
import { openQuerySource, type QuerySource } from "@pawl/platform/db/query-source";
import { z } from "zod";

/** PAWL_DATA_SOURCES: databases by name. */
export const dataSourcesSchema = z.record(
  z.string().regex(/^[A-Za-z0-9][\w.-]{0,63}$/, "expected a name of letters, digits, . _ -"),
  z.strictObject({
    url: databaseUrl(),
    mode: z.enum(["read_only", "read_write"]).default("read_only"),
    max_rows: z.int().min(1).max(LIMITS.queryRowsMax).default(1_000),
    timeout_ms: z.int().min(1).max(LIMITS.nodeTimeoutMsMax).default(10_000),
    pool_size: z.int().min(1).max(100).default(4),
    // A run is live for at most thirty days, plus the time for which it is paused or waits for people.
    ledger_days: z.int().min(31).max(3_650).default(90),
  }),
);

type DataSourceSettings = DeepReadonly<z.output<typeof dataSourcesSchema>>;

/** A source and its rules. */
interface DataSource extends Pick<QuerySource, "run"> {
  readonly mode: "read_only" | "read_write";
  readonly maxRows: number;
  readonly timeoutMs: number;
}

export interface DataSources {
  find(name: string): DataSource | undefined;
  end(): Promise<void>;
}

/** Opens the sources of a configuration. A connection is made when it is first needed. */
export function openDataSources(settings: DataSourceSettings): DataSources {
  const all = new Map(
    Object.entries(settings).map(([name, one]) => {
      const { url, mode, pool_size: poolSize } = one;
      const source = openQuerySource({
        url: url.reveal(),
        mode,
        poolSize,
        name: "pawl-data-query",
        ledgerDays: one.ledger_days,
      });
      return [name, { ...source, mode, maxRows: one.max_rows, timeoutMs: one.timeout_ms }];
    }),
  );
  return {
    find: (name) => all.get(name),
    end: async () => {
      await Promise.all(Array.from(all.values(), (source) => source.end()));
    },
  };
}
