// One embedded PostgreSQL per test run: started before the first file, thrown away after the last.
// It holds a migrated template database, which freshDatabase() clones.
import { rmSync } from "node:fs";
import { join } from "node:path";
import { startPostgres } from "@pawl/deploy/postgres.ts";
import type { TestProject } from "vitest/node";
import { temporaryFolder } from "./folder.ts";
import { makeTemplate } from "./template.ts";

declare module "vitest" {
  export interface ProvidedContext {
    /** The maintenance database of the run's PostgreSQL. */
    postgresUrl: string;
  }
}

/** Called by vitest once per run; the function it returns is called at the end. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const folder = temporaryFolder("test");
  const server = await startPostgres({
    dataDir: join(folder, "postgres"),
    durable: false,
    settings: ["max_connections=400", "max_wal_size=4GB"],
  });
  await makeTemplate(server.url);
  project.provide("postgresUrl", server.url);
  return async () => {
    await server.stop();
    rmSync(server.dataDir, { recursive: true, force: true });
    rmSync(folder, { recursive: true, force: true });
  };
}
