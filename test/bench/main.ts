// npm run bench [-- user hop limit chain single fan latency glue stream backlog idle plan decay map claims load state
//   retention watch control] [--json] [--rounds 3]
// npm run bench -- --against <folder> [user chain fan single latency glue map stream]
// npm run bench -- --build <folder> [the same]
//
// `user` measures what a user has: `client.run` of the published client, and steps in the caller's process.
// `hop` measures the price of a handler process. All others:
// Real processes, real sockets, fsync on. Steps are executed by a process of the bench over the worker protocol, and the caller is the
// published client. Every figure is the median of the rounds, and every ratio is against a ceiling that was measured on the same
// database right before: a shared machine changes its speed within minutes.
//
// --build measures the trio of another checkout, --against measures the trio of another checkout by turns with this one (or with
// --build) and prints both. Both checkouts must be installed. Metrics that need the store of a build (ceilings, backlogs) are left out.

import { parseArgs } from "node:util";
import { chain, fan, single } from "./throughput.ts";
import { backlog } from "./backlog.ts";
import { claims } from "./claims.ts";
import { compare } from "./compare.ts";
import { CONTESTS } from "./contests.ts";
import { control } from "./control.ts";
import { decay } from "./decay.ts";
import { hop } from "./hop.ts";
import { idle } from "./idle.ts";
import { glue, latency } from "./latency.ts";
import { measureLimits, openCeilings, printLimits } from "./limit.ts";
import { load } from "./load.ts";
import { map } from "./map.ts";
import { planCost } from "./plan-cost.ts";
import { progress, Report } from "./report.ts";
import { retention } from "./retention.ts";
import { state } from "./state.ts";
import { stream } from "./stream.ts";
import { startStack } from "./stack.ts";
import { user } from "./user.ts";
import { watch } from "./watch.ts";

const BENCHES = {
  user,
  hop,
  chain,
  single,
  fan,
  latency,
  glue,
  stream,
  backlog,
  idle,
  decay,
  map,
  claims,
  load,
  state,
  watch,
  control,
  retention,
} as const;
type BenchName = keyof typeof BENCHES;
const isBench = (name: string): name is BenchName => Object.hasOwn(BENCHES, name);
/** These run only when they are named. */
const LONG: ReadonlySet<string> = new Set([
  "hop",
  "decay",
  "map",
  "claims",
  "load",
  "state",
  "watch",
  "control",
  "retention",
]);
/** These measure what a stack costs by itself, or serve the steps themselves. */
const WITHOUT_STEPS: ReadonlySet<string> = new Set([
  "user",
  "hop",
  "idle",
  "claims",
  "load",
  "state",
  "watch",
  "control",
  "retention",
]);

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    json: { type: "boolean", default: false },
    rounds: { type: "string", default: "3" },
    build: { type: "string" },
    against: { type: "string" },
  },
});
const { build, against } = values;
const isComparison = build !== undefined || against !== undefined;
const known = isComparison ? Object.keys(CONTESTS) : ["limit", ...Object.keys(BENCHES), "plan"];
const asked =
  positionals.length === 0 ? known.filter((name) => isComparison || !LONG.has(name)) : positionals;
const unknown = asked.filter((name) => !known.includes(name));
const rounds = Number(values.rounds);
if (unknown.length > 0)
  leave(`no such bench: ${unknown.join(", ")}; there are ${known.join(", ")}`);
if (!Number.isInteger(rounds) || rounds < 1) leave(`--rounds takes a whole number from 1 on`);

const report = new Report(values.json);
if (isComparison) await compare({ names: asked, build, against, rounds, report });
else await measure();
report.finish();

async function measure(): Promise<void> {
  if (asked.includes("plan")) planCost(report);
  if (asked.every((name) => name === "plan")) return;
  progress("starting the stack");
  const stack = await startStack();
  try {
    const ceilings = await openCeilings(stack);
    progress("measuring the ceilings");
    printLimits(report, await measureLimits(stack, ceilings));
    for (const name of asked) {
      if (!isBench(name)) continue;
      progress(name);
      await (WITHOUT_STEPS.has(name) ? stack.leaveSteps() : stack.serveSteps());
      await BENCHES[name]({ stack, ceilings, report, rounds });
    }
    await ceilings.close();
  } finally {
    await stack.stop();
  }
}

function leave(why: string): never {
  console.error(why);
  process.exit(2);
}
