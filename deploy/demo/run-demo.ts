// The demonstration: starts everything, streams a story, kills the executor of the story with SIGKILL (a child of this process, by its pid)
// and shows how the run recovers. It has its own data folder and ports, so it runs beside `npm start`. It runs until Ctrl-C; `-- --once`
// stops at the end. The exit code is 0 when every check holds.
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { jsonOf, type PawlClient } from "@pawl/client";
import { leaveWith } from "../leave-with.ts";
import { say } from "../logbook.ts";
import { freePort, isPortFree } from "../ports.ts";
import { clientOf } from "../sample.ts";
import { DEFAULT_GATEWAY_PORT, readSettings, ROOT, type Settings } from "../settings.ts";
import { startStack } from "../stack.ts";
import { streamLines } from "../stream-lines.ts";
import { dataSources, prepareDemoData, prepareTill, type Till } from "./demo-data.ts";
import { newRecovery, notice, type Recovery, sentenceOf, STORY, verdict } from "./recovery.ts";

const WORKFLOW = new URL("survive-a-crash.yaml", import.meta.url);
/** A line with the seconds and the name in front fits 80 columns. */
const LINE_CHARS = 56;
/** The time between two words: slow enough to read, or quick with --once. */
const PACE_MS = { shown: 130, once: 20 };

async function run(settings: Settings, stop: AbortSignal): Promise<number> {
  await using stack = new AsyncDisposableStack();
  let till: Till | undefined;
  const prepare = async (url: string) => {
    till = await prepareTill(url);
    return dataSources({ demo: await prepareDemoData(url), till: till.url });
  };
  const { url, hasConsole, trio } = await startStack({ settings, stack, stop, prepare });
  stack.defer(() => say("stopping: services drain, the database goes last"));
  if (till === undefined) throw new Error("the till was not prepared");
  const client = clientOf(url);
  await client.workflows.apply(readFileSync(WORKFLOW, "utf8"));
  const order = `A-${Date.now()}`;
  const pace_ms = settings.once ? PACE_MS.once : PACE_MS.shown;
  const { run: started } = await client.runs.start("survive-a-crash", {
    input: { order, pace_ms },
  });
  const { runId } = started;
  const page = `${url}/runs/${runId}`;
  if (hasConsole) process.stdout.write(`\nOpen it now and watch:\n  ${page}\n\n`);
  const kill = (): void => {
    const { pid } = trio.executor.supervised;
    say(`>>> kill -9 ${pid}: the executor dies in the middle of a sentence`);
    process.kill(pid, "SIGKILL");
  };
  const recovery = await follow(client, runId, kill, stop);
  const output = jsonOf((await client.runs.get(runId)).run.outputJson);
  const story = isRecord(output) ? output["story"] : undefined;
  const checks = verdict(recovery, { output: story, charges: await till.chargesOf(order) });
  const lines = checks.map(({ words, isKept }) => `  ${isKept ? "✔" : "✖"} ${words}`);
  process.stdout.write(`\n${lines.join("\n")}\n\n`);
  if (!settings.once) {
    process.stdout.write(`See it again: ${page}\nCtrl-C stops everything.\n`);
    await new Promise((leave) => stop.addEventListener("abort", leave, { once: true }));
  }
  return checks.every(({ isKept }) => isKept) ? 0 : 1;
}

/** Prints the events, and calls `kill` at the event that `notice` chooses. */
async function follow(
  client: PawlClient,
  runId: string,
  kill: () => void,
  stop: AbortSignal,
): Promise<Recovery> {
  const recovery = newRecovery();
  const lines = streamLines(LINE_CHARS);
  const flush = (): void => lines.flush(STORY).forEach((line) => say(line));
  for await (const event of client.watch(runId, { signal: stop })) {
    if (event.fact.case === "nodeStreamDelta") {
      for (const line of lines.add(event.nodeId, event.fact.value.text)) say(line);
    }
    const sentence = sentenceOf(event);
    if (sentence !== undefined) {
      flush();
      say(sentence);
    }
    if (notice(recovery, event, Date.now())) {
      flush();
      kill();
    }
  }
  stop.throwIfAborted();
  return recovery;
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null;

/** Settings of the user take precedence. Otherwise the demo has its own folder and ports, and the usual console port if it is free. */
async function demoSettings(): Promise<Settings> {
  const { env } = process;
  const settings = readSettings(process.argv.slice(2), env);
  const usual = (await isPortFree(DEFAULT_GATEWAY_PORT)) ? DEFAULT_GATEWAY_PORT : await freePort();
  return {
    ...settings,
    databaseUrl: undefined,
    dataDir: env["PAWL_DATA_DIR"] === undefined ? resolve(ROOT, ".pawl/demo") : settings.dataDir,
    gatewayPort: env["PAWL_GATEWAY_PORT"] === undefined ? usual : settings.gatewayPort,
    schedulerPort:
      env["PAWL_SCHEDULER_PORT"] === undefined ? await freePort() : settings.schedulerPort,
    handlerPort: env["PAWL_HANDLER_PORT"] === undefined ? await freePort() : settings.handlerPort,
    metricsPort: env["PAWL_METRICS_PORT"] === undefined ? 0 : settings.metricsPort,
  };
}

await leaveWith(async (stop) => run(await demoSettings(), stop));
