// F3 and F4: a process freezes for longer than its claims live and then continues as if nothing had happened.
import { setTimeout as pause } from "node:timers/promises";
import { until } from "../../support/until.ts";
import { LEASE_MS, type ChaosMember } from "../chaos-cluster.ts";
import { between, oneOf, type Fault, type Hit, type Scene } from "../fault.ts";

const TRIES = 300;
const LOOK_MS = 20;
const ARRIVAL_MS = 150;
/** A claim this old has reached its executor. */
const RECEIVED_MS = 50;
/** A thawed process sends its messages within this time. */
const REFUSED_WITHIN_MS = 10_000;
const FREEZES_MAX = 3;

/** F3: an executor that holds claims. */
export const zombieExecutor: Fault = {
  id: "F3",
  title: "zombie executor: SIGSTOP for 2 to 4 leases",
  hits: { short: 1, smoke: 1, full: 20 },
  gapMs: [200, 800],
  isFencing: true,
  strike: async (scene) => {
    const { cluster, random } = scene;
    const target = oneOf(cluster.executors, random);
    let freezes = 0;
    const refusals = (): number => target.logs().split('"claim lost"').length - 1;
    for (let tries = 0; tries < TRIES; tries += 1) {
      await target.kill("SIGSTOP");
      const at = Date.now();
      // Messages that it sent before it stopped arrive.
      await pause(ARRIVAL_MS);
      const held = await leaseCount(scene, target.executorId, at - RECEIVED_MS);
      if (held > 0) {
        const before = refusals();
        await pause(freezeMs(scene));
        await until(async () => (await leaseCount(scene, target.executorId)) === 0, {
          what: "its claims to be taken back",
          timeoutMs: 60_000,
        });
        const hit = await thaw(target, `${held} claims held`, at);
        if (await isSoon(() => refusals() > before)) return hit;
        // Its assignments were still on the way when it froze, and were lost with the stream. It never had a claim to be refused.
        freezes += 1;
        if (freezes === FREEZES_MAX) return hit;
        continue;
      }
      await target.kill("SIGCONT");
      await pause(LOOK_MS);
    }
    throw new Error(`${target.name} was never seen with a claim`);
  },
};

/** F4: a scheduler with executors on its streams. */
export const zombieScheduler: Fault = {
  id: "F4",
  title: "zombie scheduler: SIGSTOP for 2 to 4 leases",
  hits: { short: 1, smoke: 1, full: 10 },
  gapMs: [500, 1_500],
  strike: async (scene) => {
    const target = busiest(scene.cluster.schedulers);
    await target.kill("SIGSTOP");
    const at = Date.now();
    await pause(freezeMs(scene));
    return await thaw(target, "stopped", at);
  },
};

/** Where most executors are. */
function busiest(schedulers: readonly ChaosMember[]): ChaosMember {
  const count = (member: ChaosMember, text: string): number => member.logs().split(text).length - 1;
  const joined = (member: ChaosMember): number =>
    count(member, '"executor joined"') - count(member, '"executor left"');
  const [first] = schedulers.toSorted((a, b) => joined(b) - joined(a));
  if (first === undefined) throw new Error("no schedulers");
  return first;
}

const freezeMs = ({ random, size }: Scene): number =>
  Math.round(between(2, size === "full" ? 4 : 2.5, random) * LEASE_MS);

const isSoon = (holds: () => boolean): Promise<boolean> =>
  until(holds, { what: "a refusal", timeoutMs: REFUSED_WITHIN_MS }).then(
    () => true,
    () => false,
  );

async function thaw(target: ChaosMember, what: string, at: number): Promise<Hit> {
  await target.kill("SIGCONT");
  const overAt = Date.now();
  const detail = `${what}, ${overAt - at} ms`;
  return { target: target.name, detail, isObserved: true, at, overAt };
}

async function leaseCount(
  { db }: Scene,
  executorId: string,
  leasedBefore = Date.now(),
): Promise<number> {
  const { rows } = await (
    await db()
  ).query<{ count: number }>(
    "select count(*)::integer as count from pawl.leases where executor_id = $1 and leased_at < $2",
    [executorId, new Date(leasedBefore)],
  );
  return rows[0]?.count ?? 0;
}
