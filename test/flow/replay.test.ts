// `pawl handler replay` on the real trio: a process runs nodes, and the tool runs the recorded invocations again in another process. It costs
// 50 seconds on two busy cores: each replay starts two processes.
import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { createPawlClient, type PawlClient } from "@pawl/client";
import { freePort, LOOPBACK } from "@pawl/deploy/ports.ts";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { type Cluster, startCluster } from "../support/cluster.ts";
import { graph } from "./graph.ts";

const fileOf = (path: string): string => fileURLToPath(new URL(path, import.meta.url));
const PROGRAM = fileOf("replay-program.ts");
const TOOL = fileOf("../../deploy/replay.ts");

let cluster: Cluster;
let client: PawlClient;
let stopProgram = async (): Promise<void> => undefined;

beforeAll(async () => {
  const port = await freePort();
  cluster = await startCluster({ envOf: { executor: { PAWL_HANDLER_PORT: String(port) } } });
  client = createPawlClient({ baseUrl: cluster.url });
  const child = spawn(process.execPath, [PROGRAM], {
    env: { ...process.env, PAWL_HANDLER_ADDRESS: `${LOOPBACK}:${port}` },
    stdio: "inherit",
  });
  const gone = new Promise((resolve) => child.once("close", resolve));
  stopProgram = async () => {
    child.kill("SIGTERM");
    await gone;
  };
});
beforeEach(({ onTestFailed }) => onTestFailed(() => console.error(cluster.logs())));
afterAll(async () => {
  await stopProgram();
  client.close();
  await cluster.stop();
});

/** Runs a node of this mode to its end, and gives its run. */
async function recorded(mode: string): Promise<string> {
  const node = { type: "acme.pay", config: { prefix: "{{ctx.input.who}}" }, input: { mode } };
  const definition = graph(["start > pay > end"], { pay: node });
  const { run } = await client.runs.test(definition, { input: { who: "Ada" } });
  await client.runs.wait(run.runId);
  return run.runId;
}

/** Replays the node in a process that gets these arguments. */
async function replay(runId: string, nodeId: string, ...args: readonly string[]) {
  const tool = [TOOL, "--address", cluster.url, runId, nodeId, "--", process.execPath, PROGRAM];
  return await finished(process.execPath, [...tool, ...args]);
}

/** Runs a program to its end. */
async function finished(program: string, args: readonly string[]) {
  const child = spawn(program, args);
  let printed = "";
  child.stdout.on("data", (chunk: Buffer) => (printed += chunk.toString()));
  child.stderr.on("data", (chunk: Buffer) => (printed += chunk.toString()));
  const code = await new Promise<number | null>((resolve) => child.once("close", resolve));
  return { code, printed };
}

test("a replay gets the recorded input, config and results of effects, and says that the outcome is the same", async () => {
  const { code, printed } = await replay(await recorded("effect"), "pay");
  expect(printed).toContain('effect pay: its recorded result {"receipt":"Ada-1"}');
  expect(printed).toContain("output: paying");
  expect(printed).toContain("log info: for Ada");
  expect(printed).toContain('the same output: {"receipt":"Ada-1"}');
  expect(printed).not.toContain("made pay");
  expect(code).toBe(0);
});

test("a replay of changed code shows where the output differs, and fails", async () => {
  const { code, printed } = await replay(await recorded("effect"), "pay", "changed");
  expect(printed).toContain('output.receipt: recorded "Ada-1", now "changed"');
  expect(code).toBe(1);
});

test("a replay gets the recorded memory, state and labels, and compares what it writes to the memory", async () => {
  const note = { type: "remember", config: { values: { count: 4 } } };
  const node = { type: "acme.pay", config: { prefix: "" }, input: { mode: "memory" } };
  const definition = graph(["start > note > pay > end"], {
    note: { ...note, taint: ["web"] },
    pay: node,
  });
  const { run } = await client.runs.test(definition, {});
  await client.runs.wait(run.runId);
  const same = await replay(run.runId, "pay");
  expect(same.printed).toContain(
    `the same output: {"seen":4,"run":"${run.runId}","taint":["web"]}`,
  );
  expect(same.code).toBe(0);
  const changed = await replay(run.runId, "pay", "changed");
  expect(changed.printed).toContain("memory.count: recorded 5, now 6");
  expect(changed.code).toBe(1);
});

test("an effect that is not on record is not made in a replay", async () => {
  const { code, printed } = await replay(await recorded("effect"), "pay", "more-effects");
  expect(printed).toContain("effect mail is not on record; replay makes no effects");
  expect(printed).not.toContain("made mail");
  expect(code).toBe(1);
});

test("a replay of a failure compares the cause", async () => {
  const runId = await recorded("fail");
  const same = await replay(runId, "pay");
  expect(same.printed).toContain("the same failure: failed with acme.declined: no funds");
  expect(same.code).toBe(0);
  const healed = await replay(runId, "pay", "healed");
  expect(healed.printed).toContain("recorded: failed with acme.declined");
  expect(healed.code).toBe(1);
});

test("--iteration of the command line replays one execution of a map, and the map itself has none", async () => {
  const body = { type: "acme.pay", config: { prefix: "{{item}}" }, input: { mode: "effect" } };
  const pay = { type: "map", config: { items: ["Ada", "Bob"], body } };
  const { run } = await client.runs.test(graph(["start > pay > end"], { pay }));
  await client.runs.wait(run.runId);
  const typed = (iteration: string) => {
    const flags = ["--address", cluster.url, "--iteration", iteration];
    const command = ["--", process.execPath, PROGRAM];
    return finished(fileOf("../../pawl"), [
      "handler",
      "replay",
      ...flags,
      run.runId,
      "pay",
      ...command,
    ]);
  };
  const second = await typed("2");
  expect(second.printed).toContain('the same output: {"receipt":"Bob-1"}');
  expect(second.code).toBe(0);
  const whole = await typed("0");
  expect(whole.printed).toContain("NODE_NOT_INVOKED");
  expect(whole.code).toBe(1);
});

test("a replay that cannot run says why: no such invocation, a process without the type, a process that ends", async () => {
  const runId = await recorded("fail");
  expect((await replay(runId, "start")).printed).toContain("NODE_NOT_INVOKED");
  const other = await replay(runId, "pay", "other-type");
  expect(other.printed).toContain("the process does not serve acme.pay; it serves acme.other");
  const gone = await replay(runId, "pay", "exit");
  expect(gone.printed).toContain("the process ended before its handler did (exit code 3)");
  expect([other.code, gone.code]).toEqual([1, 1]);
});
