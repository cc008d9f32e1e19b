// Starts everything on one machine, in order: the database, the schema, the scheduler, then executor and gateway, with the
// console built meanwhile. Each started part is pushed on a stack, so the parts stop in the reverse order and the database stops last.
import { durabilityWarning, unsafeSettings } from "@pawl/platform/db/durability";
import { migrate } from "@pawl/platform/db/migrate";
import { DEFAULT_SCHEMAS } from "@pawl/platform/config/schemas";
import { openPool } from "@pawl/platform/db/pool";
import { buildConsole } from "./console-build.ts";
import { claimInstance } from "./instance.ts";
import { type LogFile, openLog, say } from "./logbook.ts";
import { freePort, LOOPBACK } from "./ports.ts";
import type { ServiceName } from "./service-process.ts";
import type { Settings } from "./settings.ts";
import { type Incident, incidentLine, Supervised } from "./supervise.ts";
import { checkPorts, planTrio, type Service } from "./trio.ts";
import { join } from "node:path";
import { startPostgres } from "./postgres.ts";

type StackOptions = {
  readonly settings: Settings;
  /** Receives the parts that must be stopped. */
  readonly stack: AsyncDisposableStack;
  readonly stop: AbortSignal;
  /** Prepares the data of the examples in the embedded database; returns the executor's variables for it. */
  readonly prepare: (databaseUrl: string) => Promise<Readonly<Record<string, string>>>;
};

type Stack = {
  readonly url: string;
  /** False when the console could not be built. */
  readonly hasConsole: boolean;
  readonly trio: Readonly<Record<ServiceName, Service>>;
};

/** @throws StartFault with advice, if a person can help */
export async function startStack(options: StackOptions): Promise<Stack> {
  const { settings, stack, stop } = options;
  const logDir = `${settings.dataDir}/logs`;
  const url = `http://${LOOPBACK}:${settings.gatewayPort}`;
  const instance = await claimInstance(settings.dataDir, url);
  stack.defer(() => instance.release());
  await checkPorts(settings);
  const building = buildConsole(openLog(logDir, "console-build"));
  const { databaseUrl, executorEnv } = await openDatabase(options, logDir);
  stop.throwIfAborted();
  const report = (name: ServiceName, incident: Incident): void => {
    say(incidentLine(name, incident));
    record();
  };
  const trio = await planTrio({ settings, databaseUrl, executorEnv, logDir, stop, report });
  const record = (): void =>
    instance.record(Object.values(trio).map(({ supervised }) => supervised.pid));
  const start = async ({ name, supervised }: Service): Promise<void> => {
    stack.defer(() => supervised.stop());
    await supervised.start();
    record();
    say(`${name} is up (process ${supervised.pid})`);
  };
  say("starting the scheduler");
  await start(trio.scheduler);
  const console = await building;
  if (console === "built") say("console built");
  if (console === "failed") say(`! the console could not be built; see ${logDir}`);
  say("starting an executor and the gateway");
  await Promise.all([start(trio.executor), start(trio.gateway)]);
  return { url, hasConsole: console !== "failed", trio };
}

async function openDatabase(
  { settings, stack, prepare }: StackOptions,
  logDir: string,
): Promise<{ databaseUrl: string; executorEnv: Readonly<Record<string, string>> }> {
  let databaseUrl = settings.databaseUrl;
  let executorEnv: Readonly<Record<string, string>> = {};
  if (databaseUrl === undefined) {
    say("starting the embedded PostgreSQL; the first time takes some seconds");
    databaseUrl = await startDatabase(settings.dataDir, openLog(logDir, "postgres"), stack);
    executorEnv = await prepare(databaseUrl);
    say("database is up");
  } else {
    say("database: the one that DATABASE_URL names");
  }
  const engine = settings.serviceEnv["PAWL_DB_SCHEMA"] ?? DEFAULT_SCHEMAS.engine;
  const onWait = (message: string): void => say(`! ${message}`);
  const { length: count } = await migrate(databaseUrl, onWait, { engine });
  say(count === 0 ? "schema is current" : `${count} migrations applied`);
  await warnOfLostCommits(databaseUrl);
  return { databaseUrl, executorEnv };
}

/** Starts the embedded server and returns its address. A restart uses the same port, so clients find it again. */
async function startDatabase(
  folder: string,
  log: LogFile,
  stack: AsyncDisposableStack,
): Promise<string> {
  const port = await freePort();
  const dataDir = join(folder, "postgres");
  let url = "";
  const supervised = new Supervised({
    report: (incident) => say(incidentLine("database", incident)),
    async start() {
      const server = await startPostgres({ dataDir, port, log: log.write });
      url = server.url;
      return server;
    },
  });
  await supervised.start();
  stack.defer(() => supervised.stop());
  return url;
}

/** The embedded database keeps its commits. Another database may not. */
async function warnOfLostCommits(databaseUrl: string): Promise<void> {
  const pool = openPool(databaseUrl, { max: 1, name: "pawl-start" });
  try {
    for (const setting of await unsafeSettings(pool)) say(`! ${durabilityWarning(setting)}`);
  } finally {
    await pool.end();
  }
}
