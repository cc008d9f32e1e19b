// The Python client against the real trio: every call, and a watch across a restart of the gateway.
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { startCluster } from "../support/cluster.ts";
import { pythonOrSkip } from "../support/python.ts";
import { sourceEnv } from "../support/python-source.ts";

const PROGRAM = fileURLToPath(new URL("../python/caller.py", import.meta.url));

test("a Python caller applies, starts, runs, watches across cuts, waits, signals, cancels and decides", async (context) => {
  const python = await pythonOrSkip(context);
  await using cluster = await startCluster();
  const child = spawn(python, [PROGRAM], {
    env: sourceEnv({ PAWL_ADDRESS: cluster.url }),
    stdio: ["pipe", "pipe", "pipe"],
  });
  let faults = "";
  child.stderr.on("data", (chunk: Buffer) => (faults += chunk.toString()));
  const exited = new Promise((resolve) => child.once("close", resolve));
  const words: string[] = [];
  for await (const word of createInterface({ input: child.stdout })) {
    words.push(word);
    if (word !== "cut") continue;
    await cluster.gateways[0]?.restart();
    child.stdin.write("done\n");
  }
  expect(await exited, faults).toBe(0);
  expect(words).toEqual(["cut", "cut", "cut", "ok"]);
}, 180_000);
