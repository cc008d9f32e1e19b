// Compares two builds by turns. A stack of each build runs beside the other, on a database server of its own with the same settings. Each
// round measures one and then the other. A shared machine changes its speed within minutes, so each ratio is of figures of the same round.

import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { type Contest, CONTESTS } from "./contests.ts";
import { median, progress, type Report } from "./report.ts";
import { type Stack, startStack } from "./stack.ts";

interface Comparison {
  readonly names: readonly string[];
  /** The checkout to measure; this one when absent. */
  readonly build: string | undefined;
  /** The checkout to measure by turns with it. */
  readonly against: string | undefined;
  readonly rounds: number;
  readonly report: Report;
}

/** Measures one build, or two by turns, and reports every metric. @throws Error when a folder is no installed checkout */
export async function compare(comparison: Comparison): Promise<void> {
  const { names, build, against, report, rounds } = comparison;
  const folders = [build, ...(against === undefined ? [] : [against])].map(checkoutOf);
  const stacks: Stack[] = [];
  try {
    for (const folder of folders) {
      progress(`starting the build in ${folder ?? "this checkout"}`);
      const stack = await startStack(folder);
      stacks.push(stack);
      await stack.serveSteps();
    }
    const [now, before] = stacks;
    for (const name of names) {
      const contest = CONTESTS[name];
      if (contest !== undefined && now !== undefined)
        await hold(name, contest, { now, before, rounds, report });
    }
  } finally {
    for (const stack of stacks) await stack.stop();
  }
}

interface Contestants extends Pick<Comparison, "rounds" | "report"> {
  readonly now: Stack;
  readonly before: Stack | undefined;
}

async function hold(name: string, contest: Contest, contestants: Contestants): Promise<void> {
  const { now, before, rounds, report } = contestants;
  const stacks = before === undefined ? [now] : [before, now];
  for (const stack of stacks) {
    progress(`${name}: preparing`);
    await contest.prepare(stack);
  }
  const measured = new Map(stacks.map((stack) => [stack, [] as (readonly number[])[]]));
  for (let round = 1; round <= rounds; round++)
    // The second of two builds finds a busier machine, so they change places in every round.
    for (const stack of round % 2 === 0 ? stacks.toReversed() : stacks) {
      const figures = await contest.measure(stack);
      measured.get(stack)?.push(figures);
      const which = stack === now ? "measured" : "against";
      const text = contest.metrics.map(
        ({ name: metric, unit }, at) => `${metric} ${figures[at]?.toFixed(2)} ${unit}`,
      );
      progress(`${name}, round ${round} of ${rounds}, ${which}: ${text.join(", ")}`);
    }
  for (const stack of stacks) await contest.finish?.(stack);
  contest.metrics.forEach(({ name: metric, unit, isRate, floor }, at) => {
    const of = (stack: Stack): number[] =>
      (measured.get(stack) ?? []).map((figures) => figures[at] ?? Number.NaN);
    const value = median(of(now));
    if (before === undefined) return report.add({ bench: name, metric, value, unit });
    const olds = of(before);
    const ratios = of(now).map((figure, round) => {
      const old = olds[round] ?? Number.NaN;
      return isRate ? figure / old : old / figure;
    });
    const ratio = median(ratios);
    const promise = { floor: `≥ ${floor}`, reached: ratio >= floor };
    report.add({ bench: name, metric, value, unit, before: median(olds), ratio, ...promise });
  });
}

/** The folder as an absolute path, once it is known to hold an installed checkout. */
function checkoutOf(folder: string | undefined): string | undefined {
  if (folder === undefined) return undefined;
  const root = resolve(folder);
  for (const needed of ["services/scheduler/src/main.ts", "node_modules"])
    if (!existsSync(join(root, needed)))
      throw new Error(
        `${root} is no installed checkout: it has no ${needed}. Run npm run types in it`,
      );
  return root;
}
