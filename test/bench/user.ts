// Pawl as its user has it: the published client of the build with its defaults, and steps of the user's own in the caller's process. A client
// without `run` starts and watches by one call, as its users did.

import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { ROOT } from "@pawl/deploy/settings.ts";
import { createPawlClient, type PawlClient, TERMINAL_EVENT_TYPES } from "@pawl/client";
import { startSteps } from "./peers/steps.ts";
import { median, percentile, progress } from "./report.ts";
import { glueOf } from "./shapes.ts";
import type { Stack } from "./stack.ts";
import { STEP } from "./steps.ts";
import { type BenchParts, CHAIN, FAN, type Load, SINGLE } from "./throughput.ts";

const GLUE = "glue";
const LOADS = [SINGLE, CHAIN, FAN] as const;
const ALONE = [SINGLE.bench, CHAIN.bench, GLUE] as const;
const IDLE_RUNS = 200;
const SETTLING_RUNS = 600;

/** The figures of one round: a rate for each load, and the median time of a lone run of each kind. */
export const USER_METRICS = [
  { name: "runs of one step, 64 at once", unit: "runs/s", isRate: true },
  { name: "chain of ten, 32 at once", unit: "steps/s", isRate: true },
  { name: "fan of fifty, 8 at once", unit: "steps/s", isRate: true },
  { name: "lone run of one step p50", unit: "ms", isRate: false },
  { name: "lone chain of ten p50", unit: "ms", isRate: false },
  { name: "lone run with a condition p50", unit: "ms", isRate: false },
] as const;

/** A user of one stack. */
export interface User {
  measure(): Promise<readonly number[]>;
  stop(): Promise<void>;
}

/** Saves the workflows, serves the steps and warms the stack up. */
export async function startUser(stack: Stack): Promise<User> {
  const client = await clientOf(stack);
  const run = runnerOf(client);
  const stopSteps = await startSteps("in-process", {
    scheduler: stack.schedulerAddress,
    host: "",
    type: STEP,
    step: async () => ({ ok: true }),
  });
  const graphs = { ...Object.fromEntries(LOADS.map((load) => [load.bench, load.definition])) };
  for (const [id, graph] of Object.entries({ ...graphs, [GLUE]: glueOf() }))
    await client.workflows.apply(JSON.stringify({ title: id, ...graph }), { workflowId: id });
  progress("user: warming up");
  for (const load of LOADS) await runAll(run, load);
  for (const id of ALONE) for (let at = 0; at < SETTLING_RUNS; at++) await run(id);
  return {
    async measure() {
      const figures: number[] = [];
      for (const load of LOADS) {
        await runAll(run, load);
        const began = performance.now();
        await runAll(run, load);
        figures.push((load.stepCount * load.runCount * 1_000) / (performance.now() - began));
      }
      for (const id of ALONE) figures.push(await timeOf(run, id));
      return figures;
    },
    async stop() {
      await stopSteps();
      if ("close" in client) client.close();
    },
  };
}

/** Loads the client of the stack's checkout. */
async function clientOf({ root = ROOT, url }: Stack): Promise<PawlClient> {
  const path = join(root, "clients", "ts", "src", "index.ts");
  // Another build may have an older client; `runnerOf` asks what it has.
  const built = (await import(pathToFileURL(path).href)) as {
    readonly createPawlClient: typeof createPawlClient;
  };
  return built.createPawlClient({ baseUrl: url });
}

type Run = (workflowId: string) => Promise<void>;

const runnerOf = (client: PawlClient): Run =>
  "run" in client
    ? async (workflowId) => void (await client.run(workflowId, {}))
    : async (workflowId) => {
        const options = { input: {}, types: TERMINAL_EVENT_TYPES };
        const { runs } = client as PawlClient;
        for await (const { type } of runs.execute(workflowId, options))
          if (type !== "run.completed") throw new Error(`a run of ${workflowId} ended as ${type}`);
      };

async function runAll(run: Run, { bench, runCount, atATime }: Load): Promise<void> {
  let left = runCount;
  const caller = async (): Promise<void> => {
    while (left-- > 0) await run(bench);
  };
  await Promise.all(Array.from({ length: atATime }, caller));
}

async function timeOf(run: Run, workflowId: string): Promise<number> {
  const times: number[] = [];
  for (let at = 0; at < IDLE_RUNS; at++) {
    const began = performance.now();
    await run(workflowId);
    times.push(performance.now() - began);
  }
  return percentile(times, 0.5);
}

export async function user({ stack, report, rounds }: BenchParts): Promise<void> {
  const measured: (readonly number[])[] = [];
  const caller = await startUser(stack);
  try {
    for (let round = 1; round <= rounds; round++) {
      progress(`user: round ${round} of ${rounds}`);
      measured.push(await caller.measure());
    }
  } finally {
    await caller.stop();
  }
  USER_METRICS.forEach(({ name, unit }, at) => {
    const value = median(measured.map((figures) => figures[at] ?? Number.NaN));
    report.add({ bench: "user", metric: name, value, unit });
  });
}
