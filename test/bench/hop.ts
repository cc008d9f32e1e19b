// The price of a handler process: a lone chain of ten steps whose handlers run in the caller's process (startExecutor), in a process in
// TypeScript and in one in Python. The three take turns run by run, so a busy machine slows all of them alike.

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { createPawlClient } from "@pawl/client";
import { guardChild } from "@pawl/deploy/guard.ts";
import { pythonEnvironment } from "@pawl/deploy/python.ts";
import { defineHandler, startExecutor } from "@pawl/handler";
import { sourceEnv } from "../support/python-source.ts";
import { until } from "../support/until.ts";
import { percentile, progress } from "./report.ts";
import { chainOf } from "./shapes.ts";
import type { BenchParts } from "./throughput.ts";

const STEPS = 10;
const WARMING_RUNS = 50;
const RUNS = 100;

const fileOf = (name: string): string => fileURLToPath(new URL(name, import.meta.url));

export async function hop({ stack, report, rounds }: BenchParts): Promise<void> {
  const client = createPawlClient({ baseUrl: stack.url });
  const here = startExecutor({
    scheduler: stack.schedulerAddress,
    handlers: [defineHandler({ type: "hop.caller", run: async () => ({ ok: true }) })],
  });
  const env = { PAWL_HANDLER_ADDRESS: stack.handlerAddress };
  const processes = new Map<string, ChildProcess>();
  const start = (name: string, command: string, args: readonly string[]): void => {
    const child = spawn(command, args, { env: sourceEnv(env), stdio: ["ignore", "ignore", 2] });
    guardChild(child, "TERM");
    processes.set(name, child);
  };
  start("TypeScript", process.execPath, [fileOf("hop-process.ts")]);
  const python = await pythonEnvironment();
  if (python.kind === "found") start("Python", python.path, [fileOf("hop_process.py")]);
  else progress(`hop: no Python: ${python.why}`);
  try {
    const ways = ["caller", ...processes.keys()];
    for (const way of ways) {
      const graph = { title: way, ...chainOf(STEPS, `hop.${way}`) };
      const apply = () => client.workflows.apply(JSON.stringify(graph), { workflowId: idOf(way) });
      await until(apply, { what: `the handlers of ${way}` });
    }
    const run = (way: string) => client.run(idOf(way), {});
    progress("hop: warming up");
    for (let at = 0; at < WARMING_RUNS; at++) for (const way of ways) await run(way);
    const times = new Map(ways.map((way): [string, number[]] => [way, []]));
    for (let at = 0; at < RUNS * rounds; at++)
      for (const [way, list] of times) {
        const began = performance.now();
        await run(way);
        list.push(performance.now() - began);
      }
    const p50 = (way: string): number => percentile(times.get(way) ?? [], 0.5);
    for (const way of ways) {
      const figure = { bench: "hop", unit: "ms" };
      report.add({ ...figure, metric: `lone chain of ten, ${way} p50`, value: p50(way) });
      const extra = (p50(way) - p50("caller")) / STEPS;
      if (way !== "caller")
        report.add({ ...figure, metric: `extra a step, ${way} p50`, value: extra });
    }
  } finally {
    for (const child of processes.values()) {
      const exited = once(child, "exit");
      child.kill("SIGTERM");
      await exited;
    }
    await here.stop();
    client.close();
  }
}

const idOf = (way: string): string => `hop-${way.toLowerCase()}`;
