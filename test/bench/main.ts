// npm run bench [-- limit chain single fan latency backlog idle plan] [--json] [--rounds 3]
//
// Real processes, real sockets, fsync on. Every figure is the median of the rounds, and every ratio is against a ceiling that
// was measured on the same database in the same run.

import { parseArgs } from "node:util";
import { chain, fan, single } from "./throughput.ts";
import { backlog } from "./backlog.ts";
import { decay } from "./decay.ts";
import { idle } from "./idle.ts";
import { latency } from "./latency.ts";
import { measureLimits, printLimits } from "./limit.ts";
import { planCost } from "./plan-cost.ts";
import { Report } from "./report.ts";
import { startStack } from "./stack.ts";

const BENCHES = { chain, single, fan, latency, backlog, idle, decay } as const;
type BenchName = keyof typeof BENCHES;
const isBench = (name: string): name is BenchName => Object.hasOwn(BENCHES, name);
const DEFAULT: readonly string[] = [
  "limit",
  "chain",
  "single",
  "fan",
  "latency",
  "backlog",
  "idle",
  "plan",
];

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { json: { type: "boolean", default: false }, rounds: { type: "string", default: "3" } },
});
const asked = positionals.length === 0 ? DEFAULT : positionals;
const unknown = asked.filter((name) => !isBench(name) && name !== "limit" && name !== "plan");
if (unknown.length > 0) {
  console.error(
    `no such bench: ${unknown.join(", ")}; there are ${[...DEFAULT, "decay"].join(", ")}`,
  );
  process.exit(2);
}

const report = new Report(values.json);
if (asked.includes("plan")) planCost(report);
if (asked.some((name) => name !== "plan")) {
  const stack = await startStack();
  try {
    const limits = await measureLimits(stack);
    printLimits(report, limits);
    for (const name of asked)
      if (isBench(name))
        await BENCHES[name]({ stack, limits, report, rounds: Number(values.rounds) });
  } finally {
    await stack.stop();
  }
}
report.finish();
