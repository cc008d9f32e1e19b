// F1: a process kills itself at a named point of its code, once for every point there is. S4, between what is appended and what is
// planned, does not exist: both are one transaction. S11 and S12 (webhooks sent, a leader's hand-over) have nothing to strike yet.
import { until } from "../../support/until.ts";
import type { Sailor } from "../crew.ts";
import type { Fault, Hit, Scene } from "../fault.ts";

/**
 * What befalls the first and the second of each service, turn by turn. S8 needs claims to take back, so an executor dies with one in
 * its hands beside it; X7 is on the way out of an executor that was asked to leave.
 */
const TURNS: readonly (readonly [first: readonly string[], second: readonly string[]])[] = [
  [
    ["S1", "X1", "G1"],
    ["S2", "X2", "G2"],
  ],
  [
    ["S3", "X3", "G3"],
    ["S5", "X4", "G4"],
  ],
  [
    ["S6", "X5", "G5"],
    ["S7", "X6"],
  ],
  [
    ["S9", "X7"],
    ["S10", "X8"],
  ],
  [["S8"], ["X2"]],
];
const UNREACHABLE = "S4";
const STRUCK_WITHIN_MS = 40_000;
const SETTLED_WITHIN_MS = 60_000;

const arming = (point: string | undefined, hit: number) =>
  point === undefined
    ? {}
    : { PAWL_TEST: "1", PAWL_FAILPOINTS: `${point}@${hit}=kill;${UNREACHABLE}=kill` };

const strikes = (member: Sailor, point: string): number =>
  member.logs().split(`"msg":"failpoint","point":"${point}"`).length - 1;

const pointOf = (member: Sailor, turn: number, { crew }: Scene): string | undefined => {
  const group = crew.all.filter(({ service }) => service === member.service);
  const letter = { scheduler: "S", executor: "X", gateway: "G" }[member.service];
  const own = TURNS[turn]?.[group.indexOf(member) === 0 ? 0 : 1] ?? [];
  return own.find((point) => point.startsWith(letter));
};

const hitOf = (point: string, { random }: Scene): number =>
  point === "X7" || point === "S8" ? 1 : 1 + Math.floor(random() * 3);

/**
 * Nobody is armed while others still recover from the turn before: three claims lost in a row are a dead letter by rule, and
 * schedulers that die as they come up strike nobody else.
 */
const settled = ({ db }: Scene): Promise<unknown> =>
  until(
    async () => {
      const { rows } = await (
        await db()
      ).query(
        "select 1 from pawl.runs where ended_at is null and created_at < now() - interval '4 seconds' limit 1",
      );
      return rows.length === 0;
    },
    { what: "the turn before to be over", timeoutMs: SETTLED_WITHIN_MS },
  );

async function strikeAt(scene: Scene, member: Sailor, point: string): Promise<Hit> {
  // An executor leaves in good order to be armed: what it held is nobody's loss.
  if (member.service === "executor") await member.stop();
  await member.restart(arming(point, hitOf(point, scene)));
  if (point === "X7") await member.kill("SIGTERM");
  // Whoever sweeps first takes everything back: while this one is to die of it, it is the only one.
  const rivals = point === "S8" ? scene.crew.schedulers.filter((one) => one !== member) : [];
  for (const rival of rivals) await rival.kill("SIGKILL");
  let end = "";
  void member.exited().then((how) => (end = how));
  const isObserved = await until(() => end !== "", {
    what: `${member.name} to die at ${point}`,
    timeoutMs: STRUCK_WITHIN_MS,
  }).then(
    () => strikes(member, point) > 0,
    () => false,
  );
  const at = Date.now();
  for (const one of [member, ...rivals]) await one.restart({});
  return { target: member.name, detail: point, isObserved, at, overAt: at };
}

/** Makes the fault. A smoke takes one of the turns, which one is the seed's choice; the whole takes each of them many times. */
export function pointKill(): Fault {
  let first = 0;
  return {
    id: "F1",
    title: "kill -9 at named points",
    hits: { short: 1, smoke: 1, full: TURNS.length * 6 },
    gapMs: [100, 500],
    everyMs: 500,
    needsEveryHit: true,
    begin: async ({ random }) => {
      first = Math.floor(random() * TURNS.length);
    },
    strike: async (scene, nth) => {
      await settled(scene);
      const turn = (first + nth) % TURNS.length;
      return await Promise.all(
        scene.crew.all.flatMap((member) => {
          const point = pointOf(member, turn, scene);
          return point === undefined ? [] : [strikeAt(scene, member, point)];
        }),
      );
    },
    end: async ({ crew }) => {
      for (const member of crew.all)
        if (strikes(member, UNREACHABLE) > 0) throw new Error(`${UNREACHABLE} was reached`);
      return 0;
    },
  };
}
