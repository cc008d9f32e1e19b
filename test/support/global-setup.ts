// One embedded PostgreSQL per test run: started before the first file, thrown away after the last. It holds a migrated template database,
// which freshDatabase() clones. Every project asks for it, and all get the same. Meanwhile the services are bundled.
import { rmSync } from "node:fs";
import { join } from "node:path";
import { startPostgres } from "@pawl/deploy/postgres.ts";
import type { TestProject } from "vitest/node";
import { bundleServices } from "./bundle.ts";
import { temporaryFolder } from "./folder.ts";
import { makeTemplate } from "./template.ts";

declare module "vitest" {
  export interface ProvidedContext {
    /** The maintenance database of the run's PostgreSQL. */
    postgresUrl: string;
  }
}

type Running = { readonly url: string; readonly stop: () => Promise<void> };
type Shared = { server: Promise<Running>; services?: Promise<void>; users: number };

/** Unit tests start no services. */
const UNITS = "units";

/** Each project loads this file for itself, so the server that they share is kept in a global place. */
const PLACE = Symbol.for("pawl.test.postgres");
// No other code writes under this symbol.
const place = globalThis as { [PLACE]?: Shared };

/** Called by vitest once per project; the function it returns is called at the end. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const shared = (place[PLACE] ??= { server: start(), users: 0 });
  shared.users += 1;
  if (project.name !== UNITS) await (shared.services ??= bundleServices());
  const { url, stop } = await shared.server;
  project.provide("postgresUrl", url);
  return async () => {
    shared.users -= 1;
    if (shared.users === 0) await stop();
  };
}

async function start(): Promise<Running> {
  const folder = temporaryFolder("test");
  const server = await startPostgres({
    dataDir: join(folder, "postgres"),
    durable: false,
    settings: ["max_connections=400", "max_wal_size=4GB"],
  });
  await makeTemplate(server.url);
  return {
    url: server.url,
    stop: async () => {
      await server.stop();
      rmSync(server.dataDir, { recursive: true, force: true });
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
