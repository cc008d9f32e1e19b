// Everything on one machine: starts the database and the three services, runs an example, and runs until Ctrl-C or SIGTERM.
// `npm start -- --once` stops after the example, with its outcome as exit code.
import { spawn } from "node:child_process";
import { relative } from "node:path";
import { banner } from "./banner.ts";
import { dataSources, prepareDemoData } from "./demo/demo-data.ts";
import { leaveWith } from "./leave-with.ts";
import { say } from "./logbook.ts";
import { Polyglot } from "./polyglot/polyglot.ts";
import { LOOPBACK } from "./ports.ts";
import { clientOf, registerExamples, runSample } from "./sample.ts";
import { DEFAULT_GATEWAY_PORT, readSettings, ROOT, type Settings } from "./settings.ts";
import { startStack } from "./stack.ts";

async function run(settings: Settings, stop: AbortSignal): Promise<number> {
  await using stack = new AsyncDisposableStack();
  const prepare = async (url: string) => dataSources({ demo: await prepareDemoData(url) });
  const { url, hasConsole } = await startStack({ settings, stack, stop, prepare });
  const client = clientOf(url);
  const handlerAddress = `${LOOPBACK}:${settings.handlerPort}`;
  const logDir = `${settings.dataDir}/logs`;
  const outbox = `${settings.dataDir}/outbox`;
  const polyglot = new Polyglot({ client, address: handlerAddress, logDir, outbox, report: say });
  stack.defer(() => polyglot.stop());
  // Deferred calls run last to first, so this one comes before the first stop.
  stack.defer(() => say("stopping: services drain, the database goes last"));
  const workflows = await registerExamples(client);
  const onStart = (runId: string): void => {
    const page = `${url}/runs/${runId}`;
    say(`${workflows.length} example workflows registered; running one`);
    if (hasConsole) process.stdout.write(`\nWatch it live:\n  ${page}\n\n`);
    if (hasConsole && settings.open) openBrowser(page);
  };
  const { runId, status, summary } = await runSample(client, stop, onStart);
  const facts = {
    url,
    runId,
    status,
    summary,
    hasConsole,
    handlerAddress,
    logDir: shortPath(logDir),
    stays: !settings.once,
    isDefaultPort: settings.gatewayPort === DEFAULT_GATEWAY_PORT,
    isTerminal: process.stdout.isTTY,
  };
  process.stdout.write(banner(facts));
  if (settings.once) return status === "completed" ? 0 : 1;
  // Runs in the background, because a first build may take long.
  void polyglot.start();
  await new Promise((resolve) => stop.addEventListener("abort", resolve, { once: true }));
  return 0;
}

const OPENERS: Partial<Record<NodeJS.Platform, readonly [string, ...string[]]>> = {
  darwin: ["open"],
  win32: ["cmd", "/c", "start", ""],
};

/** Opens the page. The terminal shows the address too. */
function openBrowser(url: string): void {
  const [command, ...args] = OPENERS[process.platform] ?? ["xdg-open"];
  const child = spawn(command, [...args, url], { stdio: "ignore", detached: true });
  child.on("error", () => say("! no browser could be opened"));
  child.unref();
}

/** A path inside the project, from its root. */
function shortPath(path: string): string {
  const short = relative(ROOT, path);
  return short.startsWith("..") ? path : short;
}

await leaveWith((stop) => run(readSettings(process.argv.slice(2), process.env), stop));
