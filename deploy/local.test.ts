// A local start from the outside: what a person types, sees and stops.
import { spawn } from "node:child_process";
import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFailed, onTestFinished, test } from "vitest";
import { temporaryFolder } from "../test/support/folder.ts";
import { until } from "../test/support/until.ts";
import { commandLine } from "./guard.ts";
import { freePort } from "./ports.ts";
import { ROOT } from "./settings.ts";

const TIMEOUT_MS = 300_000;

/** Removed with the test. */
function dataFolder(): string {
  const folder = temporaryFolder("local");
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

async function setup() {
  const dataDir = dataFolder();
  const env = {
    ...process.env,
    PAWL_DATA_DIR: dataDir,
    PAWL_GATEWAY_PORT: String(await freePort()),
    PAWL_SCHEDULER_PORT: String(await freePort()),
    PAWL_HANDLER_PORT: String(await freePort()),
    PAWL_METRICS_PORT: "0",
    PAWL_DRAIN_MS: "3000",
  };
  const start = (args: readonly string[] = [], more: Record<string, string> = {}) => {
    const child = spawn(process.execPath, ["deploy/local.ts", ...args], {
      cwd: ROOT,
      env: { ...env, ...more },
      stdio: ["ignore", "pipe", "pipe"],
    });
    let output = "";
    child.stdout.on("data", (chunk: Buffer) => (output += chunk.toString()));
    child.stderr.on("data", (chunk: Buffer) => (output += chunk.toString()));
    const exited = new Promise<number | null>((resolve) => child.once("close", resolve));
    onTestFailed(() => console.error(output));
    // Should the test end early, the guards end the services.
    onTestFinished(() => void child.kill("SIGKILL"));
    const says = (words: string): Promise<unknown> =>
      Promise.race([
        until(() => output.includes(words), { timeoutMs: 120_000, what: words }),
        exited.then((code) => {
          throw new Error(`the start ended with ${code} before it said: ${words}`);
        }),
      ]);
    return { child, exited, says, output: () => output };
  };
  const instance = (): { services: number[] } =>
    // The start under test wrote it.
    JSON.parse(readFileSync(join(dataDir, "instance.json"), "utf8")) as { services: number[] };
  const databasePid = (): number =>
    Number(readFileSync(join(dataDir, "postgres", "postmaster.pid"), "utf8").split("\n")[0]);
  return { start, instance, databasePid };
}

const isGone = (pid: number): boolean => commandLine(pid) === "";

test(
  "a start runs the sample, says where to look, and stops it all on SIGTERM",
  { timeout: TIMEOUT_MS },
  async () => {
    const { start, instance, databasePid } = await setup();
    const first = start();
    await first.says("Ctrl-C stops everything.");
    expect(first.output()).toMatch(/run\.completed/);
    expect(first.output()).toMatch(/^Pawl: starting PostgreSQL, scheduler, executor and gateway/);
    expect(first.output()).toMatch(/\d+ migrations applied\n/);
    expect(first.output()).not.toContain(".sql");
    expect(first.output()).toMatch(/Pawl is up\. Open http:/);
    expect(first.output()).toMatch(/curl -N http:/);
    expect(first.output()).toMatch(/Handlers of your own connect to 127\.0\.0\.1:\d+\n/);

    const second = start();
    expect(await second.exited).toBe(1);
    expect(second.output()).toContain("already runs here");

    const other = start([], { PAWL_DATA_DIR: dataFolder() });
    expect(await other.exited).toBe(1);
    expect(other.output()).toMatch(
      /is taken by another program\nchoose another: PAWL_GATEWAY_PORT=/,
    );

    const pids = [...instance().services, databasePid()];
    first.child.kill("SIGTERM");
    expect(await first.exited).toBe(0);
    expect(pids.map(isGone)).toEqual(pids.map(() => true));
  },
);

test(
  "what dies is started again, and a killed start is recovered by the next",
  { timeout: TIMEOUT_MS },
  async () => {
    const { start, instance, databasePid } = await setup();
    const first = start();
    await first.says("Ctrl-C stops everything.");
    process.kill(databasePid(), "SIGKILL");
    await first.says("the database is up again");
    process.kill(instance().services[2] ?? 0, "SIGKILL");
    await first.says("the gateway is up again");

    const left = instance().services;
    first.child.kill("SIGKILL");
    await first.exited;
    const next = start(["--once"]);
    expect(await next.exited).toBe(0);
    expect(next.output()).toContain("run.completed");
    expect(left.map(isGone)).toEqual([true, true, true]);
  },
);
