// F1: a process kills itself at a named point of its code, once at every point of a run. test/crash covers the points of pauses and
// schedules.
import type { ProbePoint } from "@pawl/platform/lifecycle/probe";
import { until } from "../../support/until.ts";
import type { ChaosMember } from "../chaos-cluster.ts";
import type { Fault, Hit, Scene } from "../fault.ts";

type Group = "schedulers" | "executors" | "gateways";
type Turn = Partial<Record<Group, ProbePoint>>;

/**
 * The points at which processes die, turn by turn. Only one process of each service dies in a turn, so that no second executor dies
 * with the nodes of the first. An executor passes DRAIN after SIGTERM. SWEEP has a turn of its own: it needs claims to take back.
 */
const DRAIN: ProbePoint = "executor.drain-begun";
const SWEEP: ProbePoint = "sweep.before-take-back";
const TURNS: readonly Turn[] = [
  {
    schedulers: "start.before-submit",
    executors: "assignment.received",
    gateways: "start.before-forward",
  },
  {
    schedulers: "start.after-commit",
    executors: "handler.before-run",
    gateways: "start.after-forward",
  },
  { schedulers: "outcome.received", executors: "handler.after-run", gateways: "watch.after-batch" },
  { schedulers: "tick.before-commit", executors: "outcome.sent", gateways: "watch.after-replay" },
  {
    schedulers: "tick.after-commit",
    executors: "outcome.acknowledged",
    gateways: "watch.before-end",
  },
  { schedulers: "tick.before-reply", executors: "lease.before-renew" },
  { schedulers: "tick.timer-fired", executors: DRAIN },
  { schedulers: "tick.before-commit-of-end", executors: "sandbox.before-run" },
];
const SWEEP_TURN = TURNS.length;
const SOON_MS = 12_000;
const STRUCK_WITHIN_MS = 40_000;
const SETTLED_WITHIN_MS = 60_000;

const arming = (point: ProbePoint | undefined, hit: number) =>
  point === undefined ? {} : { PAWL_TEST: "1", PAWL_FAILPOINTS: `${point}@${hit}=kill` };

const strikes = (member: ChaosMember, point: ProbePoint): number =>
  member.logs().split(`"msg":"failpoint","point":"${point}"`).length - 1;

const GROUPS: readonly Group[] = ["schedulers", "executors", "gateways"];

/** A round has an odd number of turns, so a process that one round spares at a point dies there in the next round. */
const aimsOf = (turn: number, nth: number, { cluster }: Scene): readonly Aim[] =>
  GROUPS.flatMap((name) => {
    const group = cluster[name];
    const member = group[nth % group.length];
    const point = TURNS[turn]?.[name];
    return member === undefined || point === undefined ? [] : [{ member, point }];
  });

const hitOf = (point: ProbePoint, { random }: Scene): number =>
  point === DRAIN || point === SWEEP ? 1 : 1 + Math.floor(random() * 3);

/**
 * No process is armed while others still recover from the turn before: by rule, three claims lost in a row make a dead letter, and a
 * turn costs a node two claims at most.
 */
const UNSETTLED = `
select 1 from pawl.runs r where r.ended_at is null and (
  r.created_at < now() - interval '4 seconds'
  or exists (select 1 from pawl.run_events e where e.run_id = r.run_id and e.type = 'run.recovered'))
limit 1`;

const settled = ({ db }: Scene): Promise<unknown> =>
  until(async () => (await (await db()).query(UNSETTLED)).rows.length === 0, {
    what: "the turn before to be over",
    timeoutMs: SETTLED_WITHIN_MS,
  });

/** Which process dies at which point. */
type Aim = { readonly member: ChaosMember; readonly point: ProbePoint };
type Armed = Aim & { readonly before: number };

/** Strikes all of them at once. A process that does not reach its point for a while gets all work, because the others are stopped. */
async function strikeAll(scene: Scene, aims: readonly Aim[]): Promise<readonly Hit[]> {
  const late: Aim[] = [];
  const soon = await Promise.all(
    aims.map(async (aim): Promise<readonly Hit[]> => {
      const { member, point } = aim;
      const armed = { ...aim, before: await arm(scene, member, point) };
      if (point === DRAIN) await member.kill("SIGTERM");
      const [hit] = await Promise.all([struck(armed, SOON_MS), beckon(scene, member)]);
      if (hit.isObserved) await member.restart({});
      else late.push(aim);
      return hit.isObserved ? [hit] : [];
    }),
  );
  const hits = soon.flat();
  for (const aim of late) hits.push(await strikeLate(scene, aim));
  return hits;
}

/** Executors and lanes stay connected where they are. The other scheduler stops for a moment, so that all of them connect to this one. */
async function beckon({ cluster: { schedulers } }: Scene, member: ChaosMember): Promise<void> {
  if (!schedulers.includes(member)) return;
  for (const other of schedulers) {
    if (other === member) continue;
    await other.stop();
    await other.restart({});
  }
}

/** Not struck so far: the others of its kind stay away until it is. */
async function strikeLate(scene: Scene, { member, point }: Aim): Promise<Hit> {
  const others = scene.cluster.all.filter(
    (one) => one.service === member.service && one !== member,
  );
  for (const other of others) await other.stop();
  // Armed again: it may have been one of the others a moment ago.
  const before = await arm(scene, member, point);
  const hit = await struck({ member, point, before }, STRUCK_WITHIN_MS);
  for (const one of [...others, member]) await one.restart({});
  return hit;
}

/**
 * A scheduler dies while it takes claims back. The first scheduler that sweeps takes all of them, so only one runs. Only one executor
 * runs too; it dies with the claims and stays away, because an executor that comes back reports its losses and leaves nothing to sweep.
 */
async function strikeSweep(scene: Scene): Promise<Hit> {
  const [sweeper, ...rivals] = scene.cluster.schedulers;
  const [executor, ...others] = scene.cluster.executors;
  if (sweeper === undefined || executor === undefined) throw new Error("nobody to strike");
  const before = await arm(scene, sweeper, SWEEP);
  for (const rival of rivals) await rival.kill("SIGKILL");
  await arm(scene, executor, "handler.before-run");
  for (const other of others) await other.stop();
  const hit = await struck({ member: sweeper, point: SWEEP, before }, STRUCK_WITHIN_MS);
  for (const one of [sweeper, ...rivals, executor, ...others]) await one.restart({});
  return hit;
}

/** Has it die at the point; gives how often it did before. */
async function arm(scene: Scene, member: ChaosMember, point: ProbePoint): Promise<number> {
  const before = strikes(member, point);
  // It stops in good order before it is armed, so that no claim is lost.
  if (member.service !== "gateway") await member.stop();
  await member.restart(arming(point, hitOf(point, scene)));
  return before;
}

/** Waits for an armed one to die. */
async function struck({ member, point, before }: Armed, timeoutMs: number): Promise<Hit> {
  let end = "";
  void member.exited().then((how) => (end = how));
  const isObserved = await until(() => end !== "", {
    what: `${member.name} to die at ${point}`,
    timeoutMs,
  }).then(
    () => strikes(member, point) > before,
    () => false,
  );
  const at = Date.now();
  return { target: member.name, detail: point, isObserved, at, overAt: at };
}

/** Makes the fault. A smoke takes two of the turns, which ones is the seed's choice; the whole takes each of them many times. */
export function pointKill(): Fault {
  let first = 0;
  return {
    id: "F1",
    title: "kill -9 at named points",
    hits: { short: 1, smoke: 2, full: (TURNS.length + 1) * 6 },
    gapMs: [100, 500],
    everyMs: 500,
    needsEveryHit: true,
    begin: async ({ random }) => {
      first = Math.floor(random() * (TURNS.length + 1));
    },
    strike: async (scene, nth) => {
      await settled(scene);
      const turn = (first + nth) % (TURNS.length + 1);
      if (turn === SWEEP_TURN) return await strikeSweep(scene);
      return await strikeAll(scene, aimsOf(turn, nth, scene));
    },
  };
}
