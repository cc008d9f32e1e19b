// Everything of a local start, brought up in order: the database, the schema, the scheduler, then executor and gateway, with the
// console built meanwhile. What is started is pushed on a stack, so it stops in the reverse order and the database goes last.
import { durabilityWarning, unsafeSettings } from "@pawl/platform/db/durability";
import { migrate } from "@pawl/platform/db/migrate";
import { DEFAULT_SCHEMAS } from "@pawl/platform/config/schemas";
import { openPool } from "@pawl/platform/db/pool";
import { buildConsole } from "./console-build.ts";
import { startDatabase } from "./database.ts";
import { claimInstance } from "./instance.ts";
import { openLog, say } from "./logbook.ts";
import { LOOPBACK } from "./ports.ts";
import type { ServiceName } from "./service-process.ts";
import type { Settings } from "./settings.ts";
import type { Incident } from "./supervise.ts";
import { checkPorts, planTrio } from "./trio.ts";
import type { Service } from "./trio.ts";

/** What a start of everything needs. */
export type StackOptions = {
  readonly settings: Settings;
  /** Takes what must be stopped. */
  readonly stack: AsyncDisposableStack;
  readonly stop: AbortSignal;
  /** Prepares what the examples need in the embedded database; gives the executor's variables for it. */
  readonly prepare: (databaseUrl: string) => Promise<Readonly<Record<string, string>>>;
  /** Told what happens to a service after its start; the terminal is told anyway. */
  readonly report?: (name: ServiceName, incident: Incident) => void;
};

/** What runs. */
export type Stack = {
  readonly url: string;
  /** False when the console could not be built. */
  readonly hasConsole: boolean;
  readonly trio: Readonly<Record<ServiceName, Service>>;
};

/** @throws StartFault for what a person can mend */
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
    tell(name, incident);
    record();
    options.report?.(name, incident);
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
    const database = await startDatabase({
      dataDir: settings.dataDir,
      log: openLog(logDir, "postgres"),
      report: (incident) => tell("database", incident),
    });
    stack.defer(() => database.stop());
    databaseUrl = database.url;
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

/** The embedded database keeps its commits; the one that DATABASE_URL names may not. */
async function warnOfLostCommits(databaseUrl: string): Promise<void> {
  const pool = openPool(databaseUrl, { max: 1, name: "pawl-start" });
  try {
    for (const setting of await unsafeSettings(pool)) say(`! ${durabilityWarning(setting)}`);
  } finally {
    await pool.end();
  }
}

/** What goes into the terminal when something supervised ends or comes back. */
function tell(name: string, incident: Incident): void {
  switch (incident.kind) {
    case "ended":
      return say(`! the ${name} ended (${incident.how}); starting it again`);
    case "failed":
      return say(`! the ${name} does not start; trying again in ${incident.retryMs} ms`);
    case "restarted":
      return say(`the ${name} is up again (process ${incident.pid})`);
    default:
      return incident satisfies never;
  }
}
