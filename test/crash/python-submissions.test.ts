// The gateway dies under many starts of a Python client: every run exists once, and every caller gets its answer from the gateway that is
// left, or that replaces it.
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { Client } from "pg";
import { expect, onTestFinished, test } from "vitest";
import { startCluster } from "../support/cluster.ts";
import { pythonOrSkip } from "../support/python.ts";
import { sourceEnv } from "../support/python-source.ts";
import { until } from "../support/until.ts";

const PROGRAM = fileURLToPath(new URL("../python/many.py", import.meta.url));
const CASES = [
  { way: "threads", gateways: 1, count: 200 },
  { way: "tasks", gateways: 2, count: 500 },
  { way: "starts", gateways: 1, count: 1_500 },
] as const;

for (const { way, gateways, count } of CASES)
  test(`kill -9 of a gateway, of ${gateways}, under ${count} ${way} of a Python client: each run exists once and is answered`, async (context) => {
    const python = await pythonOrSkip(context);
    const cluster = await startCluster({ gateways });
    onTestFinished(() => cluster.stop());
    const db = new Client({ connectionString: cluster.databaseUrl });
    await db.connect();
    onTestFinished(() => db.end());
    const runsIn = async (condition: string): Promise<number> => {
      const { rows } = await db.query(
        `select count(*)::int as n from pawl.runs where ${condition}`,
      );
      return rows[0].n;
    };
    const urls = cluster.gateways.map(({ url }) => url);
    const child = spawn(python, [PROGRAM, way, String(count), ...urls], { env: sourceEnv() });
    onTestFinished(() => void child.kill("SIGKILL"));
    let faults = "";
    child.stderr.on("data", (chunk: Buffer) => (faults += chunk.toString()));
    const exited = new Promise((resolve) => child.once("close", resolve));
    const words: string[] = [];
    for await (const word of createInterface({ input: child.stdout })) {
      words.push(word);
      if (word !== "ready") continue;
      child.stdin.write("go\n");
      // Some are accepted, others wait for their answer.
      await until(async () => (await runsIn("true")) > 1, { what: "the second run" });
      const [victim] = cluster.gateways;
      await victim?.kill("SIGKILL");
      if (gateways === 1) await victim?.restart();
    }
    expect(await exited, faults).toBe(0);
    expect(words).toEqual(["ready", String(count)]);
    expect(await runsIn("true")).toBe(count);
    const areOver = async () => (await runsIn("status = 'completed'")) === count;
    await until(areOver, { what: "every run to complete" });
  }, 180_000);
