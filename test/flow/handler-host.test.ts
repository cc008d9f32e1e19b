// A process of a user behind the real trio: it serves a node type of its own, and its death in the middle of a run costs a delivery.
import { type ChildProcess, spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { createPawlClient, type PawlClient } from "@pawl/client";
import { freePort, LOOPBACK } from "@pawl/deploy/ports.ts";
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from "vitest";
import { type Cluster, startCluster } from "../support/cluster.ts";
import { checkInvariants } from "../support/invariants.ts";
import { until } from "../support/until.ts";
import { graph } from "./graph.ts";
import { runGraph, storyOf } from "./story.ts";

const PROGRAM = fileURLToPath(new URL("handler-process.ts", import.meta.url));

let cluster: Cluster;
let client: PawlClient;
let address: string;

beforeAll(async () => {
  const port = await freePort();
  address = `${LOOPBACK}:${port}`;
  const env = { PAWL_HANDLER_PORT: String(port), PAWL_EXECUTOR_GRACE_MS: "1000" };
  cluster = await startCluster({ envOf: { executor: env } });
  client = createPawlClient({ baseUrl: cluster.url });
});
beforeEach(({ onTestFailed }) => onTestFailed(() => console.error(cluster.logs())));
afterAll(() => cluster.stop());

/** Starts a process and waits until it has printed these words. */
async function serve(mode = "") {
  const child: ChildProcess = spawn(process.execPath, [PROGRAM, address, mode], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  let output = "";
  child.stdout?.on("data", (chunk: Buffer) => (output += chunk.toString()));
  const prints = (words: string): Promise<unknown> =>
    until(() => output.includes(words), { what: `the process to print ${words}` });
  await prints("serving");
  return { child, prints };
}

const ECHO = graph(["start > echo > end"], {
  echo: { type: "acme.echo", config: { greeting: "Hello, {{ctx.input.name}}" } },
});

test("a run completes through a process of a user, with its templates filled in", async () => {
  await serve();
  const story = await runGraph(client, ECHO, { name: "Ada" });
  expect(story.status).toBe("completed");
  expect(story.outputOf("echo")).toEqual({ greeting: "Hello, Ada" });
});

test("a process that is killed while it works loses the delivery, and another process completes the run", async () => {
  const { child, prints } = await serve("hang");
  const { run } = await client.runs.test(ECHO, { input: { name: "Ada" } });
  await prints("invoked");
  child.kill("SIGKILL");
  await serve();
  const story = await storyOf(client, run.runId);
  expect(story.status).toBe("completed");
  expect(story.outputOf("echo")).toEqual({ greeting: "Hello, Ada" });
  // The same attempt, delivered twice.
  expect(story.of("node.started", "echo").map(({ attempt }) => attempt)).toEqual([1, 1]);
  await checkInvariants(cluster.databaseUrl);
});
