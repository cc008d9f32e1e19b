// Everything on one machine: `npm start` brings up the database and the three services, runs an example and
// stays until Ctrl-C or SIGTERM. `npm start -- --once` leaves after the example, with its outcome as exit code.
//
// Things are stopped in the reverse of the order in which they started, so the database goes last.
import { relative } from "node:path";
import { durabilityWarning, unsafeSettings } from "@pawl/platform/db/durability";
import { migrate } from "@pawl/platform/db/migrate";
import { openPool } from "@pawl/platform/db/pool";
import { banner } from "./banner.ts";
import { buildConsole } from "./console-build.ts";
import { prepareDemoData } from "./demo/demo-data.ts";
import { startDatabase } from "./database.ts";
import { claimInstance } from "./instance.ts";
import { openLog, say } from "./logbook.ts";
import { LOOPBACK } from "./ports.ts";
import { clientOf, registerExamples, runSample } from "./sample.ts";
import type { ServiceName } from "./service-process.ts";
import { readSettings, ROOT } from "./settings.ts";
import type { Settings } from "./settings.ts";
import { StartFault } from "./start-fault.ts";
import { stopSignal } from "./stop-signal.ts";
import type { Incident } from "./supervise.ts";
import { checkPorts, planTrio } from "./trio.ts";
import type { Service } from "./trio.ts";

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

async function openDatabase(
  settings: Settings,
  logDir: string,
  stack: AsyncDisposableStack,
): Promise<{ readonly url: string; readonly demoDataUrl: string | undefined }> {
  let url = settings.databaseUrl;
  let demoDataUrl: string | undefined;
  if (url === undefined) {
    const database = await startDatabase({
      dataDir: settings.dataDir,
      log: openLog(logDir, "postgres"),
      report: (incident) => tell("database", incident),
    });
    stack.defer(() => database.stop());
    url = database.url;
    demoDataUrl = await prepareDemoData(url);
    say("database is up (embedded PostgreSQL)");
  } else {
    say("database: the one DATABASE_URL names");
  }
  const applied = await migrate(url);
  say(applied.length === 0 ? "schema is current" : `schema migrated (${applied.join(", ")})`);
  await warnOfLostCommits(url);
  return { url, demoDataUrl };
}

/** The embedded database keeps its commits; the one that DATABASE_URL names may not. */
async function warnOfLostCommits(url: string): Promise<void> {
  const pool = openPool(url, { max: 1, name: "pawl-start" });
  try {
    for (const setting of await unsafeSettings(pool)) say(`! ${durabilityWarning(setting)}`);
  } finally {
    await pool.end();
  }
}

type Start = {
  readonly settings: Settings;
  readonly stack: AsyncDisposableStack;
  readonly stop: AbortSignal;
};

/** Returns whether there is a console. */
async function startAll({ settings, stack, stop }: Start): Promise<boolean> {
  const logDir = `${settings.dataDir}/logs`;
  const url = `http://${LOOPBACK}:${settings.gatewayPort}`;
  const instance = await claimInstance(settings.dataDir, url);
  stack.defer(() => instance.release());
  await checkPorts(settings);
  const building = buildConsole(openLog(logDir, "console-build"));
  const { url: databaseUrl, demoDataUrl } = await openDatabase(settings, logDir, stack);
  stop.throwIfAborted();
  const report = (name: ServiceName, incident: Incident): void => {
    tell(name, incident);
    record();
  };
  const trio = await planTrio({ settings, databaseUrl, demoDataUrl, logDir, stop, report });
  const record = (): void =>
    instance.record(Object.values(trio).map(({ supervised }) => supervised.pid));
  const start = async ({ name, supervised }: Service): Promise<void> => {
    stack.defer(() => supervised.stop());
    await supervised.start();
    record();
    say(`${name} is up (process ${supervised.pid})`);
  };
  await start(trio.scheduler);
  const console = await building;
  if (console === "built") say("console built");
  if (console === "failed") say(`! the console could not be built; see ${logDir}`);
  await Promise.all([start(trio.executor), start(trio.gateway)]);
  return console !== "failed";
}

async function run(settings: Settings, stop: AbortSignal): Promise<number> {
  await using stack = new AsyncDisposableStack();
  const hasConsole = await startAll({ settings, stack, stop });
  // Deferred things run last to first: this one tells before the first of them stops.
  stack.defer(() => say("stopping: services drain, the database goes last"));
  const url = `http://${LOOPBACK}:${settings.gatewayPort}`;
  const client = clientOf(url);
  const workflows = await registerExamples(client);
  say(`${workflows.length} example workflows registered; running one\n`);
  const { runId, status } = await runSample(client, stop);
  const logDir = shortPath(`${settings.dataDir}/logs`);
  const stays = !settings.once;
  process.stdout.write(banner({ url, runId, status, logDir, workflows, hasConsole, stays }));
  if (!stays) return status === "completed" ? 0 : 1;
  await new Promise((resolve) => stop.addEventListener("abort", resolve, { once: true }));
  return 0;
}

/** Paths inside the project are shown from its root. */
function shortPath(path: string): string {
  const short = relative(ROOT, path);
  return short.startsWith("..") ? path : short;
}

function explain(error: unknown): void {
  if (error instanceof StartFault) {
    process.stderr.write(`\n${error.message}\n${error.advice}\n`);
    return;
  }
  const why = error instanceof Error ? error.message : String(error);
  process.stderr.write(`\nPawl could not start: ${why}\n`);
}

const stop = stopSignal(say);
try {
  process.exitCode = await run(readSettings(process.argv.slice(2), process.env), stop);
  say("stopped");
} catch (error) {
  // A start that was told to stop ends as asked, wherever it was.
  if (!stop.aborted) explain(error);
  process.exitCode = stop.aborted ? 0 : 1;
}
