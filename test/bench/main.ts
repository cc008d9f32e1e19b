// npm run bench [-- limit chain single fan latency stream backlog idle plan decay map claims load] [--json] [--rounds 3]
//
// Real processes, real sockets, fsync on. Every figure is the median of the rounds, and every ratio is against a ceiling that
// was measured on the same database right before: a shared machine changes its speed within minutes.

import { parseArgs } from "node:util";
import { chain, fan, single } from "./throughput.ts";
import { backlog } from "./backlog.ts";
import { claims } from "./claims.ts";
import { decay } from "./decay.ts";
import { idle } from "./idle.ts";
import { latency } from "./latency.ts";
import { measureLimits, openCeilings, printLimits } from "./limit.ts";
import { load } from "./load.ts";
import { map } from "./map.ts";
import { planCost } from "./plan-cost.ts";
import { Report } from "./report.ts";
import { stream } from "./stream.ts";
import { startStack } from "./stack.ts";

const BENCHES = {
  chain,
  single,
  fan,
  latency,
  stream,
  backlog,
  idle,
  decay,
  map,
  claims,
  load,
} as const;
type BenchName = keyof typeof BENCHES;
const isBench = (name: string): name is BenchName => Object.hasOwn(BENCHES, name);
const DEFAULT: readonly string[] = [
  "limit",
  "chain",
  "single",
  "fan",
  "latency",
  "stream",
  "backlog",
  "idle",
  "plan",
];
/** These measure on something else than the one stack of the others. */
const OWN: ReadonlySet<string> = new Set(["limit", "plan"]);

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { json: { type: "boolean", default: false }, rounds: { type: "string", default: "3" } },
});
const asked = positionals.length === 0 ? DEFAULT : positionals;
const unknown = asked.filter((name) => !isBench(name) && !OWN.has(name));
if (unknown.length > 0) {
  console.error(
    `no such bench: ${unknown.join(", ")}; there are ${[...DEFAULT, "decay", "map", "claims", "load"].join(", ")}`,
  );
  process.exit(2);
}

const report = new Report(values.json);
if (asked.includes("plan")) planCost(report);
if (asked.some((name) => name !== "plan")) {
  const stack = await startStack();
  try {
    const ceilings = await openCeilings(stack);
    printLimits(report, await measureLimits(stack, ceilings));
    for (const name of asked)
      if (isBench(name))
        await BENCHES[name]({ stack, ceilings, report, rounds: Number(values.rounds) });
    await ceilings.close();
  } finally {
    await stack.stop();
  }
}
report.finish();
