// `npm run bench -- control`: how long a cancel, an interrupt, a rollback, a pause and a resume take to reach a running handler, for handler
// processes in TypeScript, Python and Go. Half of the samples are measured while eight callers keep the same process busy. The bench ends with
// exit code 1 if a 99th percentile is above 250 ms.

import { createPawlClient, type PawlClient } from "@pawl/client";
import { HANDLERS } from "../handler-kit/programs/sdks.ts";
import { Program } from "../handler-kit/program.ts";
import { until } from "../support/until.ts";
import { ENDINGS, endingMs, pauseMs } from "./control-latency.ts";
import { percentile, progress } from "./report.ts";
import type { BenchParts } from "./throughput.ts";

const P99_MAX_MS = 250;
/** For each control, of an idle and of a busy process. */
const SAMPLES = 100;
const WARMING = 10;
const BUSY_CALLERS = 8;

const ECHO = {
  id: "control-echo",
  nodes: [
    { id: "start", type: "start" },
    { id: "echo", type: "kit.echo@1" },
  ],
  edges: [{ source: "start", target: "echo" }],
};

export async function control({ stack, report, rounds }: BenchParts): Promise<void> {
  const client = createPawlClient({ baseUrl: stack.url });
  try {
    for (const [sdk, find] of Object.entries(HANDLERS)) {
      const found = await find();
      if (found.kind === "missing") throw new Error(`control: no ${sdk}: ${found.why}`);
      progress(`control: ${sdk}`);
      const env = { ...found.env, PAWL_HANDLER_ADDRESS: stack.handlerAddress };
      const program = new Program(found.command, env);
      try {
        const apply = () => client.workflows.apply(JSON.stringify(ECHO), { workflowId: ECHO.id });
        await until(apply, { what: `the handlers in ${sdk}` });
        await sample({ client, program, count: WARMING, prefix: "warm" });
        const idle = await sample({ client, program, count: SAMPLES * rounds, prefix: "idle" });
        const busy = await beside(client, () =>
          sample({ client, program, count: SAMPLES * rounds, prefix: "busy" }),
        );
        for (const [state, times] of Object.entries({ idle, busy }))
          for (const [name, list] of times) add(report, `${sdk} ${name}, ${state}`, list);
      } finally {
        await program.kill();
      }
      const isGone = async () =>
        (await client.executors.list()).every((each) => each.processName !== "kit");
      await until(isGone, { what: `the end of the process in ${sdk}` });
    }
  } finally {
    client.close();
  }
}

type Times = ReadonlyMap<string, number[]>;

/** Each control `count` times, by turns. */
async function sample(asked: {
  readonly client: PawlClient;
  readonly program: Program;
  readonly count: number;
  readonly prefix: string;
}): Promise<Times> {
  const { count, prefix, ...parts } = asked;
  const times = new Map([...ENDINGS, "pause", "resume"].map((name) => [name, [] as number[]]));
  for (let at = 0; at < count; at++) {
    for (const how of ENDINGS)
      times.get(how)?.push(await endingMs({ ...parts, name: `${prefix}-${how}-${at}` }, how));
    const { pause, resume } = await pauseMs({ ...parts, name: `${prefix}-pause-${at}` });
    times.get("pause")?.push(pause);
    times.get("resume")?.push(resume);
  }
  return times;
}

/** Runs `work` while other callers keep the process busy. */
async function beside<Value>(client: PawlClient, work: () => Promise<Value>): Promise<Value> {
  const over = new AbortController();
  const caller = async (): Promise<void> => {
    while (!over.signal.aborted) await client.run(ECHO.id, {});
  };
  const callers = Array.from({ length: BUSY_CALLERS }, caller);
  try {
    return await work();
  } finally {
    over.abort();
    await Promise.all(callers);
  }
}

function add(report: BenchParts["report"], metric: string, times: readonly number[]): void {
  const figure = { bench: "control", unit: "ms" };
  report.add({ ...figure, metric: `${metric} p50`, value: percentile(times, 0.5) });
  const value = percentile(times, 0.99);
  const reached = value <= P99_MAX_MS;
  report.add({ ...figure, metric: `${metric} p99`, value, floor: `≤ ${P99_MAX_MS}`, reached });
  // An end that no process waits for: the other figures are still printed.
  if (!reached) process.exitCode = 1;
}
