// Databases for tests: a fresh, migrated one per call, and a private server for tests that kill it.
import { randomBytes } from "node:crypto";
import { chmodSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { startPostgres } from "@pawl/deploy/postgres.ts";
import type { Postgres } from "@pawl/deploy/postgres.ts";
import { migrate } from "@pawl/platform/db/migrate";
import { inject } from "vitest";
import { temporaryFolder } from "./folder.ts";
import { databaseUrl, execute, TEMPLATE_NAME } from "./template.ts";

/** A database of one test. */
export type FreshDatabase = {
  readonly url: string;
  /** Ends its sessions and removes it. */
  drop(): Promise<void>;
};

/** A migrated, empty database of its own on the run's server, cloned from the template. */
export async function freshDatabase(): Promise<FreshDatabase> {
  const admin = inject("postgresUrl");
  const name = `test_${randomBytes(8).toString("hex")}`;
  await execute(admin, `create database ${name} template ${TEMPLATE_NAME}`);
  return databaseOf(admin, name);
}

/** A database of its own on the run's server, with nothing in it. */
export async function emptyDatabase(): Promise<FreshDatabase> {
  const admin = inject("postgresUrl");
  const name = `test_${randomBytes(8).toString("hex")}`;
  await execute(admin, `create database ${name} template template0`);
  return databaseOf(admin, name);
}

const databaseOf = (admin: string, name: string): FreshDatabase => ({
  url: databaseUrl(admin, name),
  drop: () => execute(admin, `drop database if exists ${name} with (force)`),
});

/** A server of one test, which may kill it and start it again on the same port and data. */
export type PrivatePostgres = {
  readonly url: string;
  readonly pid: number;
  /** Ends the server and waits until it is gone: by a crash (SIGKILL), immediately (SIGQUIT) or fast (SIGINT). */
  crash(signal?: "SIGKILL" | "SIGQUIT" | "SIGINT"): Promise<void>;
  /** Starts it again on the same port and data, with other `name=value` settings and variables if given. */
  restart(settings?: readonly string[], env?: Readonly<Record<string, string>>): Promise<void>;
  /** Starts it again as a standby without a primary: it takes no writes until `pg_promote()` is called. */
  restartAsStandby(): Promise<void>;
  /** Stops it and removes its data. */
  stop(): Promise<void>;
};

/** Starts a crash-safe server whose maintenance database is migrated. */
export async function startPrivatePostgres(): Promise<PrivatePostgres> {
  const folder = temporaryFolder("private");
  const dataDir = join(folder, "postgres");
  let server: Postgres = await startPostgres({ dataDir });
  const { port, url } = server;
  await migrate(url);
  return {
    url,
    get pid() {
      return server.pid;
    },
    async crash(signal = "SIGKILL") {
      server.kill(signal);
      await server.exited;
    },
    async restart(settings = [], env = {}) {
      server = await startPostgres({ dataDir, port, settings, env });
    },
    async restartAsStandby() {
      const signal = join(server.dataDir, "standby.signal");
      writeFileSync(signal, "");
      // The server may run under an account of its own.
      chmodSync(signal, 0o666);
      server = await startPostgres({ dataDir, port });
    },
    async stop() {
      await server.stop();
      rmSync(server.dataDir, { recursive: true, force: true });
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
