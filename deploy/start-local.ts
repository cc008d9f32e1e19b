// Everything on one machine: brings up the database and the three services, runs an example and stays until Ctrl-C or SIGTERM.
// `npm start -- --once` leaves after the example, with its outcome as exit code.
import { spawn } from "node:child_process";
import { relative } from "node:path";
import { banner } from "./banner.ts";
import { prepareDemoData } from "./demo/demo-data.ts";
import { dataSources } from "./demo/demo-env.ts";
import { leaveWith } from "./leave-with.ts";
import { say } from "./logbook.ts";
import { clientOf, registerExamples, runSample } from "./sample.ts";
import { DEFAULT_GATEWAY_PORT, readSettings, ROOT } from "./settings.ts";
import type { Settings } from "./settings.ts";
import { startStack } from "./stack.ts";

async function run(settings: Settings, stop: AbortSignal): Promise<number> {
  await using stack = new AsyncDisposableStack();
  const prepare = async (url: string) => dataSources({ demo: await prepareDemoData(url) });
  const { url, hasConsole } = await startStack({ settings, stack, stop, prepare });
  // Deferred things run last to first: this one tells before the first of them stops.
  stack.defer(() => say("stopping: services drain, the database goes last"));
  const client = clientOf(url);
  const workflows = await registerExamples(client);
  const onStart = (runId: string): void => {
    const page = `${url}/runs/${runId}`;
    say(`${workflows.length} example workflows registered; running one`);
    if (hasConsole) process.stdout.write(`\nWatch it live:\n  ${page}\n\n`);
    if (hasConsole && settings.open) openBrowser(page);
  };
  const { runId, status, summary } = await runSample(client, stop, onStart);
  const logDir = shortPath(`${settings.dataDir}/logs`);
  const stays = !settings.once;
  const isDefaultPort = settings.gatewayPort === DEFAULT_GATEWAY_PORT;
  const isTerminal = process.stdout.isTTY;
  const facts = {
    url,
    runId,
    status,
    summary,
    logDir,
    hasConsole,
    stays,
    isDefaultPort,
    isTerminal,
  };
  process.stdout.write(banner(facts));
  if (!stays) return status === "completed" ? 0 : 1;
  await new Promise((resolve) => stop.addEventListener("abort", resolve, { once: true }));
  return 0;
}

const OPENERS: Partial<Record<NodeJS.Platform, readonly [string, ...string[]]>> = {
  darwin: ["open"],
  win32: ["cmd", "/c", "start", ""],
};

/** A machine without a browser has the address on its terminal. */
function openBrowser(url: string): void {
  const [command, ...args] = OPENERS[process.platform] ?? ["xdg-open"];
  const child = spawn(command, [...args, url], { stdio: "ignore", detached: true });
  child.on("error", () => say("! no browser could be opened"));
  child.unref();
}

/** Paths inside the project are shown from its root. */
function shortPath(path: string): string {
  const short = relative(ROOT, path);
  return short.startsWith("..") ? path : short;
}

await leaveWith((stop) => run(readSettings(process.argv.slice(2), process.env), stop));
