// Tests of the cluster that other tests use.
import { readFileSync } from "node:fs";
import { createPawlClient, runStatusName } from "@pawl/client";
import { expect, test } from "vitest";
import { startCluster } from "./cluster.ts";

const HELLO = readFileSync(new URL("../../deploy/examples/hello.yaml", import.meta.url), "utf8");

test("a cluster runs a workflow, also after its executor was killed and restarted", async () => {
  await using cluster = await startCluster();
  const client = createPawlClient({ baseUrl: cluster.url });
  await client.workflows.apply(HELLO, { workflowId: "hello" });
  const greet = async (): Promise<string> => {
    const { run } = await client.runs.start("hello", { input: { name: "Ada" } });
    return runStatusName((await client.runs.wait(run.runId)).status);
  };
  expect(await greet()).toBe("completed");

  const [executor] = cluster.executors;
  const before = executor?.pid;
  await executor?.kill("SIGKILL");
  await executor?.restart();
  expect(executor?.pid).not.toBe(before);
  expect(await greet()).toBe("completed");
  expect(cluster.logs()).toContain("--- scheduler-1");
});
