// Repeats each fault around handlers with an effect: rounds of as many trials as there are lanes. Points, effect classes and styles take
// turns, and the seed sets where the turns begin.
import { checkInvariants } from "../support/invariants.ts";
import { STRIKES, type FaultName } from "./faults.ts";
import { POINTS } from "./receiver.ts";
import { beginTrial, judge, type Plan, type Verdict } from "./trial.ts";
import type { Lane, World } from "./world.ts";

const CLASSES = ["idempotent", "at_most_once"] as const;
const STYLES = ["plain", "async"] as const;

/** Ten trials in a row have every point with every effect class; twenty have both styles of each. */
export function planOf(fault: FaultName, nth: number, seed: number): Plan {
  const turn = nth + seed;
  const turnOf = <T>(things: readonly [T, ...T[]], every: number): T =>
    things[Math.floor(turn / every) % things.length] ?? things[0];
  return {
    id: `${fault}-${nth}`,
    point: turnOf(POINTS, 1),
    effect: turnOf(CLASSES, POINTS.length),
    style: turnOf(STYLES, POINTS.length * CLASSES.length),
  };
}

/** Runs `times` trials of a fault. */
export async function repeatFault(
  world: World,
  fault: FaultName,
  options: {
    readonly times: number;
    readonly seed: number;
    readonly onRound: (verdicts: readonly Verdict[]) => void;
  },
): Promise<Verdict[]> {
  const all: Verdict[] = [];
  for (let nth = 0; nth < options.times; nth += world.lanes.length) {
    const lanes = world.lanes.slice(0, options.times - nth);
    const verdicts = await round(world, fault, { lanes, nth, seed: options.seed });
    options.onRound(verdicts);
    all.push(...verdicts);
  }
  return all;
}

async function round(
  world: World,
  fault: FaultName,
  {
    lanes,
    nth,
    seed,
  }: { readonly lanes: readonly Lane[]; readonly nth: number; readonly seed: number },
): Promise<Verdict[]> {
  const trials = await Promise.all(
    lanes.map((lane, at) => beginTrial(world, lane, planOf(fault, nth + at, seed))),
  );
  let trouble = "";
  await STRIKES[fault](world, trials).catch((error: unknown) => (trouble = String(error)));
  const verdicts = await Promise.all(trials.map((trial) => judge(world, trial)));
  if (trouble === "" || verdicts.some(({ kind }) => kind === "stuck")) return verdicts;
  // A function that never returned is stuck too, whatever its run did.
  return verdicts.map((verdict, at) => (at === 0 ? stuck(verdict, trouble) : verdict));
}

const stuck = ({ plan, detail }: Verdict, trouble: string): Verdict => ({
  plan,
  kind: "stuck",
  detail: `${trouble}; ${detail}`,
});

/** The line that decides: every trial, and every broken invariant of the store. */
export async function summary(
  world: World,
  verdicts: readonly Verdict[],
): Promise<{ readonly line: string; readonly faults: readonly string[] }> {
  const count = (kind: Verdict["kind"]): number =>
    verdicts.filter((verdict) => verdict.kind === kind).length;
  const line = `lost ${count("lost")} / doubled ${count("doubled")} / stuck ${count("stuck")} of ${verdicts.length}`;
  const bad = verdicts.filter(({ kind }) => kind !== "completed" && kind !== "effect unknown");
  const broken = await checkInvariants(world.databaseUrl);
  return {
    line,
    faults: [
      ...bad.map(({ kind, detail }: Verdict) => `${kind}: ${detail}`),
      ...broken.map((rule) => `broken invariant: ${rule}`),
    ],
  };
}
