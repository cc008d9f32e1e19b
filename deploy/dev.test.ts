// `pawl dev` from the outside: a person's folder, a real stack, changes of the file while a handler runs, and Ctrl-C. It takes 18 s, and up
// to 43 s on two busy cores.
import { spawn } from "node:child_process";
import { mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createPawlClient, jsonOf, type Json, type PawlClient } from "@pawl/client";
import { expect, onTestFailed, onTestFinished, test } from "vitest";
import { temporaryFolder } from "../test/support/folder.ts";
import { until } from "../test/support/until.ts";
import { commandLine } from "./guard.ts";
import { freePort, LOOPBACK } from "./ports.ts";
import { ROOT } from "./settings.ts";

const TIMEOUT_MS = 180_000;

/** A handler that greets with a word; with a gate it waits until the file of that name is there. */
const handlerOf = (word: string, type = "hello.greet@1", more = "") => `
import { existsSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { defineHandler, serve } from "@pawl/handler";
import { z } from "zod";

const greet = defineHandler({
  type: "${type}",
  input: z.object({ name: z.string(), gate: z.string().optional(), ${more} }),
  output: z.object({ text: z.string() }),
  async run({ name, gate }, ctx) {
    await ctx.emit("begun");
    while (gate !== undefined && !existsSync(gate)) await delay(20, undefined, { signal: ctx.signal });
    return { text: "${word}, " + name };
  },
});
await serve([greet]);
`;

const workflowOf = (type: string) => `id: greet\nnodes: [{ id: greet, type: ${type} }]\n`;

/** A folder with a handler in it, where packages are found as after an install. */
function project(code: string): string {
  const folder = temporaryFolder("dev");
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  mkdirSync(join(folder, "node_modules", "@pawl"), { recursive: true });
  symlinkSync(join(ROOT, "clients", "handler"), join(folder, "node_modules", "@pawl", "handler"));
  symlinkSync(join(ROOT, "deploy", "node_modules", "zod"), join(folder, "node_modules", "zod"));
  writeFileSync(join(folder, "handlers.ts"), code);
  return folder;
}

/** Types `pawl dev` in a folder. */
function dev(folder: string, env: NodeJS.ProcessEnv, ...flags: readonly string[]) {
  const child = spawn(join(ROOT, "pawl"), ["dev", ...flags, "--", "node", "handlers.ts"], {
    cwd: folder,
    env: { ...process.env, ...env },
    stdio: ["ignore", "pipe", "pipe"],
    // A group of its own, as a shell gives it: Ctrl-C goes to the group.
    detached: true,
  });
  let output = "";
  child.stdout.on("data", (chunk: Buffer) => (output += chunk.toString()));
  child.stderr.on("data", (chunk: Buffer) => (output += chunk.toString()));
  const exited = new Promise<number | null>((resolve) => child.once("close", resolve));
  onTestFailed(() => console.error(output));
  const press = (signal: NodeJS.Signals): void => {
    if (child.pid !== undefined && child.exitCode === null) process.kill(-child.pid, signal);
  };
  onTestFinished(() => press("SIGKILL"));
  const says = (words: string): Promise<unknown> =>
    Promise.race([
      until(() => output.includes(words), { timeoutMs: 60_000, what: words }),
      exited.then((code) => {
        throw new Error(`pawl dev ended with ${code} before it printed: ${words}`);
      }),
    ]);
  const handlerPids = (): number[] =>
    [...output.matchAll(/serves \(process (\d+)\)/g)].map(([, pid]) => Number(pid));
  return { exited, says, handlerPids, output: () => output, ctrlC: () => press("SIGINT") };
}

async function settingsOf(dataDir: string) {
  return {
    PAWL_DATA_DIR: dataDir,
    PAWL_GATEWAY_PORT: String(await freePort()),
    PAWL_SCHEDULER_PORT: String(await freePort()),
    PAWL_HANDLER_PORT: String(await freePort()),
    PAWL_METRICS_PORT: "0",
    PAWL_DRAIN_MS: "3000",
  };
}

/** Runs the workflow to its end; the text of its handler. */
async function greeted(client: PawlClient, type: string, input: Json): Promise<Json | undefined> {
  const { run } = await client.runs.test(workflowOf(type), { input });
  return outputOf(await client.runs.wait(run.runId));
}

/** The output of the only node. */
const outputOf = ({ nodes }: Awaited<ReturnType<PawlClient["runs"]["wait"]>>) =>
  nodes.map(({ outputJson }) => jsonOf(outputJson))[0];

/** The processes of the stack in a data folder. */
function stackPids(dataDir: string): number[] {
  const instance = readFileSync(join(dataDir, "instance.json"), "utf8");
  // The start under test wrote it.
  const { services } = JSON.parse(instance) as { services: number[] };
  const database = readFileSync(join(dataDir, "postgres", "postmaster.pid"), "utf8");
  return [...services, Number(database.split("\n")[0])];
}

test(
  "a change of a file serves the new code, work under way finishes on the old code, and Ctrl-C ends everything",
  { timeout: TIMEOUT_MS },
  async () => {
    const folder = project(handlerOf("Hello"));
    const file = join(folder, "handlers.ts");
    const dataDir = temporaryFolder("dev-data");
    onTestFinished(() => rmSync(dataDir, { recursive: true, force: true }));
    const settings = await settingsOf(dataDir);
    const terminal = dev(folder, settings);
    await terminal.says("version 1 serves");
    const client = createPawlClient({
      baseUrl: `http://${LOOPBACK}:${settings.PAWL_GATEWAY_PORT}`,
    });
    onTestFinished(() => client.close());
    const type = "hello.greet@1";

    const gate = join(dataDir, "gate");
    const { run } = await client.runs.test(workflowOf(type), { input: { name: "Bob", gate } });
    for await (const { fact } of client.watch(run.runId))
      if (fact.case === "nodeStreamDelta") break;
    writeFileSync(file, handlerOf("Good day"));
    await terminal.says("version 2 serves");
    expect(await greeted(client, type, { name: "Ada" })).toEqual({ text: "Good day, Ada" });
    expect(terminal.output()).not.toContain("version 1 has finished its work");
    writeFileSync(gate, "");
    const ended = await client.runs.wait(run.runId);
    expect(outputOf(ended)).toEqual({ text: "Hello, Bob" });
    // One attempt: the change cost the run nothing.
    expect(ended.nodes[0]?.attempt).toBe(1);
    await terminal.says("version 1 has finished its work");

    writeFileSync(file, "const = 1;");
    await terminal.says("! version 3 does not serve (exit code 1); the version before it stays");
    expect(terminal.output()).toMatch(/3 \| {2}.*SyntaxError/);
    expect(await greeted(client, type, { name: "Eve" })).toEqual({ text: "Good day, Eve" });

    // Inputs of before do not fit any more, under the same name.
    writeFileSync(file, handlerOf("Welcome", type, "title: z.string()"));
    await terminal.says("version 4 changed the schemas");
    await terminal.says("version 5 serves");
    expect(await greeted(client, type, { name: "Kim", title: "Dr" })).toEqual({
      text: "Welcome, Kim",
    });

    const other = project(handlerOf("Hi", "hello.other@1"));
    mkdirSync(join(other, "lib"));
    const second = dev(other, settings, "--no-stack", "--watch", "lib");
    await second.says("version 1 serves");
    expect(await greeted(client, "hello.other@1", { name: "Zoe" })).toEqual({ text: "Hi, Zoe" });
    // Only the named folder is watched: the change beside it is served with the next change inside.
    writeFileSync(join(other, "handlers.ts"), handlerOf("Hey", "hello.other@1"));
    writeFileSync(join(other, "lib", "words.ts"), "");
    await second.says("words.ts changed");
    await second.says("version 2 serves");
    expect(await greeted(client, "hello.other@1", { name: "Zoe" })).toEqual({ text: "Hey, Zoe" });
    expect(second.output()).not.toMatch(/handlers\.ts changed|lib.words\.ts changed/);
    second.ctrlC();
    expect(await second.exited).toBe(0);
    expect(second.output()).not.toContain("PostgreSQL");

    const pids = [...stackPids(dataDir), ...terminal.handlerPids(), ...second.handlerPids()];
    terminal.ctrlC();
    expect(await terminal.exited).toBe(0);
    expect(pids.filter((pid) => commandLine(pid) !== "")).toEqual([]);
    expect(pids.length).toBeGreaterThan(6);
  },
);

test("pawl dev without a command says how it is called", async () => {
  const child = spawn(process.execPath, ["deploy/dev.ts"], { cwd: ROOT });
  let output = "";
  child.stderr.on("data", (chunk: Buffer) => (output += chunk.toString()));
  expect(await new Promise((resolve) => child.once("close", resolve))).toBe(1);
  expect(output).toContain("usage: pawl dev");
});
