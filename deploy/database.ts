// The database of a local start: the caller's own, or an embedded one that is kept alive and kept between starts.
import { join } from "node:path";
import type { LogFile } from "./logbook.ts";
import { freePort } from "./ports.ts";
import { startPostgres } from "./postgres.ts";
import { Supervised } from "./supervise.ts";
import type { Incident } from "./supervise.ts";

/** A database that answers. */
export type Database = { readonly url: string; stop(): Promise<void> };

/** What the embedded one needs. */
export type DatabaseOptions = {
  readonly dataDir: string;
  readonly log: LogFile;
  readonly report: (incident: Incident) => void;
};

/** Starts the embedded server; a restart comes back on the same port, so that clients find it again. */
export async function startDatabase(options: DatabaseOptions): Promise<Database> {
  const port = await freePort();
  let url = "";
  const supervised = new Supervised({
    report: options.report,
    async start() {
      const dataDir = join(options.dataDir, "postgres");
      const server = await startPostgres({ dataDir, port, log: options.log.write });
      url = server.url;
      return server;
    },
  });
  await supervised.start();
  return { url, stop: () => supervised.stop() };
}
