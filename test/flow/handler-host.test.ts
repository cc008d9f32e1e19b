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

const POISON = graph(["start > echo > end"], {
  echo: { type: "acme.poison", config: { greeting: "Hello, {{ctx.input.name}}" } },
});

test("a run completes through a process of a user, with its templates filled in", async () => {
  await serve();
  const story = await runGraph(client, ECHO, { name: "Ada" });
  expect(story.status).toBe("completed");
  expect(story.outputOf("echo")).toEqual({ greeting: "Hello, Ada" });
});

test("an input that kills three processes fails its node with a dead letter, and the next run is served", async () => {
  const { run } = await client.runs.test(POISON, { input: { name: "poison" } });
  for (let death = 1; death <= 3; death += 1) {
    const { child, prints } = await serve("poison");
    await prints("invoked");
    await until(() => child.signalCode === "SIGKILL", { what: "the death of the process" });
  }
  const story = await storyOf(client, run.runId);
  expect(story.status).toBe("failed");
  expect(story.of("node.started", "echo").map(({ attempt }) => attempt)).toEqual([1, 1, 1]);
  expect(story.of("node.failed", "echo")).toMatchObject([
    { payload: { cause: "delivery_exhausted" } },
  ]);
  const { deadLetters } = await client.deadLetters.list();
  expect(deadLetters).toMatchObject([{ runId: run.runId, nodeId: "echo" }]);
  await serve("poison");
  expect((await runGraph(client, POISON, { name: "Ada" })).status).toBe("completed");
  await checkInvariants(cluster.databaseUrl);
});

test("the depth of the queue of a user's type is a metric, for autoscaling: it grows without a process and falls with one", async () => {
  const waiting = graph(["start > echo > end"], { echo: { type: "acme.poison" } });
  const depth = async (): Promise<number | undefined> => {
    const text = await (
      await fetch(`http://${LOOPBACK}:${cluster.schedulers[0]?.probePort}/metrics`)
    ).text();
    const sample = /^pawl_queue_depth\{[^}]*queue="acme\.poison"[^}]*\} (\d+)/m.exec(text);
    return sample === null ? undefined : Number(sample[1]);
  };
  const runs = await Promise.all(
    Array.from({ length: 3 }, () => client.runs.test(waiting, { input: {} })),
  );
  await until(async () => (await depth()) === 3, { what: "three waiting nodes in the metric" });
  await serve("poison");
  for (const { run } of runs) expect((await storyOf(client, run.runId)).status).toBe("completed");
  await until(async () => (await depth()) === 0, { what: "an empty queue in the metric" });
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
