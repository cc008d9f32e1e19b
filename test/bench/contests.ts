// The loads by which two builds are compared. They need only the public interfaces of a build: its processes, its gateway and its
// worker protocol.

import { costOf } from "./cost.ts";
import {
  hopOf,
  measureGlue,
  measureLatency,
  prepareGlue,
  prepareLatency,
  type Times,
} from "./latency.ts";
import { NARROW, WIDE } from "./map.ts";
import { mean, percentile } from "./report.ts";
import type { Stack } from "./stack.ts";
import { delayOf, FULL_SPEED, PACED, piecesPerSecond, prepareSpeech, watchOnce } from "./stream.ts";
import { startUser, type User, USER_METRICS } from "./user.ts";
import { CHAIN, FAN, type Load, prepareLoad, rateOf, runLoad, SINGLE } from "./throughput.ts";

/** What one measurement gives. */
interface Metric {
  readonly name: string;
  readonly unit: string;
  /** Whether more is better; times and costs are better when they are less. */
  readonly isRate: boolean;
  /** How many times as fast as before it must be. */
  readonly floor: number;
}

export interface Contest {
  readonly metrics: readonly Metric[];
  /** Saves the workflows and warms the stack up. */
  prepare(stack: Stack): Promise<void>;
  /** One round: a figure for each metric, in their order. */
  measure(stack: Stack): Promise<readonly number[]>;
  /** Leaves the stack as it was. */
  finish?(stack: Stack): Promise<void>;
}

/** Not slower, as far as a shared machine can show. */
const NOT_SLOWER = 0.95;
const GLUE_FASTER = 1.6;
/** So many loads make a round of a few seconds. */
const LOADS = 4;
/** The processes of a build and its database; the caller and the executor of the steps are the same for every build. */
const BUILD = ["scheduler", "executor", "gateway", "postgres"] as const;

const rate = (name: string, unit = "steps/s"): Metric => ({
  name,
  unit,
  isRate: true,
  floor: NOT_SLOWER,
});
const time = (name: string, { unit = "ms", floor = NOT_SLOWER } = {}): Metric => ({
  name,
  unit,
  isRate: false,
  floor,
});

/** Throughput, and what a step costs the build in CPU, which other work on the machine changes less. */
const throughputOf = (load: Load): Contest => ({
  metrics: [rate("throughput"), time("CPU of the build a step", { unit: "µs" })],
  prepare: (stack) => prepareLoad(stack, load),
  async measure(stack) {
    // The other build was measured meanwhile: this one starts again.
    await runLoad(stack, load);
    const whole = { ...load, runCount: load.runCount * LOADS };
    const { seconds, cpu } = await costOf(stack, () => runLoad(stack, whole));
    const steps = whole.stepCount * whole.runCount;
    const busy = BUILD.reduce((sum, name) => sum + (cpu[name] ?? 0) * seconds, 0);
    return [steps / seconds, (busy * 1e6) / steps];
  },
});

const latency: Contest = {
  metrics: [time("single run p50"), time("per hop p50")],
  prepare: ({ client }) => prepareLatency(client),
  async measure({ client }) {
    const times: Times = await measureLatency(client);
    return [percentile(times.single, 0.5), hopOf(times)];
  },
};

const glue: Contest = {
  metrics: [time("run p50", { floor: GLUE_FASTER }), time("run mean", { floor: GLUE_FASTER })],
  prepare: ({ client }) => prepareGlue(client),
  async measure({ client }) {
    const times = await measureGlue(client);
    return [percentile(times, 0.5), mean(times)];
  },
};

const map: Contest = {
  metrics: [rate(`map of ${WIDE.stepCount}`), rate(`map of ${NARROW.stepCount}`)],
  async prepare(stack) {
    for (const load of [WIDE, NARROW]) {
      await stack.client.apply(load.bench, load.definition);
      await runLoad(stack, load);
    }
  },
  measure: async (stack) => [await rateOf(stack, WIDE, 1), await rateOf(stack, NARROW, 1)],
};

const stream: Contest = {
  metrics: [rate("pieces delivered", "/s"), time("full speed p50"), time("100 pieces/s p50")],
  async prepare(stack) {
    for (const speech of [FULL_SPEED, PACED]) await prepareSpeech(stack, speech);
  },
  async measure(stack) {
    const [fast, paced] = [await watchOnce(stack, FULL_SPEED), await watchOnce(stack, PACED)];
    if (![...fast, ...paced].every(({ isWhole }) => isWhole))
      throw new Error("a watcher did not get every piece in order");
    return [piecesPerSecond(fast), delayOf(fast, 0.5), delayOf(paced, 0.5)];
  },
};

const users = new WeakMap<Stack, User>();

/** Every build by its own client, as its users have it. */
const user: Contest = {
  metrics: USER_METRICS.map(({ isRate, ...metric }) => ({ ...metric, isRate, floor: NOT_SLOWER })),
  async prepare(stack) {
    await stack.leaveSteps();
    users.set(stack, await startUser(stack));
  },
  measure: async (stack) => (await users.get(stack)?.measure()) ?? [],
  async finish(stack) {
    await users.get(stack)?.stop();
    await stack.serveSteps();
  },
};

export const CONTESTS: Readonly<Record<string, Contest>> = {
  user,
  chain: throughputOf(CHAIN),
  fan: throughputOf(FAN),
  single: throughputOf(SINGLE),
  latency,
  glue,
  map,
  stream,
};
