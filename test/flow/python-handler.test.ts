// Handlers in Python beside the real trio: output, effect, stream and log; a failure; a cancel that reaches the function; a clean leave.
import { createPawlClient, jsonOf, runStatusName } from "@pawl/client";
import { freePort, LOOPBACK } from "@pawl/deploy/ports.ts";
import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { startCluster } from "../support/cluster.ts";
import { pythonOrSkip } from "../support/python.ts";
import { sourceEnv } from "../support/python-source.ts";
import { until } from "../support/until.ts";
import { graph } from "./graph.ts";

const PROGRAM = fileURLToPath(new URL("../python/handlers.py", import.meta.url));

test("handlers in Python run, stream, make effects, fail, are cancelled and leave", async (context) => {
  const python = await pythonOrSkip(context);
  const port = String(await freePort());
  await using cluster = await startCluster({ envOf: { executor: { PAWL_HANDLER_PORT: port } } });
  const child = spawn(python, [PROGRAM], {
    env: sourceEnv({ PAWL_HANDLER_ADDRESS: `${LOOPBACK}:${port}` }),
  });
  let said = "";
  child.stdout.on("data", (chunk: Buffer) => (said += chunk.toString()));
  child.stderr.on("data", (chunk: Buffer) => (said += chunk.toString()));
  const exited = new Promise((resolve) => child.once("close", resolve));
  const client = createPawlClient({ baseUrl: cluster.url });

  const input = { customer: "c1", cents: 5 };
  const start = (type: string) =>
    client.runs.test(graph(["work > end"], { work: { type } }), { input });
  const charged = (await start("py.charge")).run.runId;
  const run = await client.runs.wait(charged);
  expect(runStatusName(run.status), `${run.errorMessage} ${said}`).toBe("completed");
  expect(run.nodes.map(({ outputJson }) => jsonOf(outputJson))).toContainEqual({ receipt: "c1-5" });
  const texts: string[] = [];
  for await (const { fact } of client.watch(charged)) {
    if (fact.case === "nodeStreamDelta") texts.push(fact.value.text);
    if (fact.case === "nodeLog") texts.push(fact.value.message);
  }
  expect(texts.toSorted()).toEqual(["charged", "paid c1-5"]);
  const { effects } = await client.runs.effects(charged);
  expect(effects.length).toBe(1);

  const declined = await client.runs.wait((await start("py.decline")).run.runId);
  expect([runStatusName(declined.status), declined.errorMessage]).toEqual([
    "failed",
    expect.stringContaining("no funds"),
  ]);

  const waiting = (await start("py.wait")).run.runId;
  for await (const { fact } of client.watch(waiting)) if (fact.case === "nodeStreamDelta") break;
  await client.runs.cancel(waiting);
  await until(async () => (said.includes("aborted cancelled") ? true : undefined), {
    what: "the abort in the function",
  });

  child.kill("SIGTERM");
  expect(await exited, said).toBe(0);
}, 180_000);
