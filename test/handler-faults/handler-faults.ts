// Repeats each fault around handlers with an effect: rounds of as many trials as there are lanes. Points and styles take turns, and the seed
// sets where the turns begin.
import { checkInvariants } from "../support/invariants.ts";
import { STRIKES, type FaultName } from "./faults.ts";
import { POINTS } from "./receiver.ts";
import {
  beginTrial,
  isAllowed,
  judge,
  type EffectClass,
  type Kind,
  type Plan,
  type Verdict,
} from "./trial.ts";
import type { World } from "./world.ts";

const STYLES = ["plain", "async"] as const;

/** How many trials a fault gets of each effect class. */
type Counts = Readonly<Record<EffectClass, number>>;

/** The trials of a fault. Ten in a row of a class have every point at even and odd places; twenty have both styles of each. */
export function plansOf(fault: FaultName, counts: Counts, seed: number): Plan[] {
  const plan = (effect: EffectClass, nth: number): Plan => {
    const turnOf = <T>(things: readonly [T, ...T[]], every: number): T =>
      things[Math.floor((nth + seed) / every) % things.length] ?? things[0];
    return {
      id: `${fault}-${effect}-${nth}`,
      point: turnOf(POINTS, 1),
      effect,
      style: turnOf(STYLES, POINTS.length * 2),
    };
  };
  return (["idempotent", "at_most_once"] as const).flatMap((effect) =>
    Array.from({ length: counts[effect] }, (_, nth) => plan(effect, nth)),
  );
}

/** Strikes the trials of the plans with a fault. */
export async function repeatFault(
  world: World,
  fault: FaultName,
  plans: readonly Plan[],
  onRound: (verdicts: readonly Verdict[]) => void = () => undefined,
): Promise<Verdict[]> {
  const all: Verdict[] = [];
  for (let first = 0; first < plans.length; first += world.lanes.length) {
    const verdicts = await round(world, fault, plans.slice(first, first + world.lanes.length));
    onRound(verdicts);
    all.push(...verdicts);
  }
  return all;
}

/** Strikes as many trials at once as there are plans; each has a lane of its own. */
async function round(world: World, fault: FaultName, plans: readonly Plan[]): Promise<Verdict[]> {
  const lanes = world.lanes.slice(0, plans.length);
  const trials = await Promise.all(
    lanes.flatMap((lane, at) => {
      const plan = plans[at];
      return plan === undefined ? [] : [beginTrial(world, lane, plan)];
    }),
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

/** How the trials of each effect class ended. */
export function countsLine(verdicts: readonly Verdict[]): string {
  const of = (effect: EffectClass): readonly Verdict[] =>
    verdicts.filter(({ plan }) => plan.effect === effect);
  const count = (among: readonly Verdict[], kind: Kind): number =>
    among.filter((verdict) => verdict.kind === kind).length;
  const [idempotent, once] = [of("idempotent"), of("at_most_once")];
  return [
    `idempotent: ${count(idempotent, "completed")} of ${idempotent.length} completed with one committed effect`,
    `at_most_once: ${count(once, "completed")} of ${once.length} completed, ${count(once, "effect unknown")} effect_unknown`,
  ].join("; ");
}

/** The line that decides, every trial that did not end as its plan demands, and every broken invariant of the store. */
export async function summary(
  world: World,
  verdicts: readonly Verdict[],
): Promise<{ readonly line: string; readonly faults: readonly string[] }> {
  const count = (kind: Kind): number => verdicts.filter((verdict) => verdict.kind === kind).length;
  const line = `lost ${count("lost")} / doubled ${count("doubled")} / stuck ${count("stuck")} of ${verdicts.length}`;
  const broken = await checkInvariants(world.databaseUrl);
  return {
    line,
    faults: [
      ...verdicts
        .filter((verdict) => !isAllowed(verdict))
        .map(({ kind, detail }) => `${kind}: ${detail}`),
      ...broken.map((rule) => `broken invariant: ${rule}`),
    ],
  };
}
