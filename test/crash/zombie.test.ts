// Executors are frozen in the middle of an effect, past their lease, and wake up when another has finished their work.
// `PAWL_FREEZES=200 npm test -- test/crash/zombie` is the long proof; the suite freezes fewer.
// Every effect has one booking and one record, and the scheduler refuses the zombie. A bank or a node that reads neither keys nor ledger
// shows that there would have been two bookings.
import { createPawlClient, type PawlClient } from "@pawl/client";
import { Client } from "pg";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { call, graph } from "../flow/graph.ts";
import { storyOf } from "../flow/story.ts";
import { type Cluster, startCluster } from "../support/cluster.ts";
import { checkInvariants } from "../support/invariants.ts";
import { until } from "../support/until.ts";
import { openBank, type Bank } from "./bank.ts";
import { failpoints, startExecutor, type Executor } from "./processes.ts";

/** How often an executor is frozen with an order in hand and wakes too late. */
const FREEZES = Number(process.env["PAWL_FREEZES"] ?? 40);
/** How many executors are frozen at the same time. Each freeze lasts longer than a lease. */
const ZOMBIES = 20;
/** More than it takes, where a busy machine gives some zombies nothing to do. */
const ROUNDS_MAX = FREEZES / ZOMBIES + 4;
/** Orders in flight at every freeze, by what is promised about them. */
const ORDERS = { idempotent: 20, at_most_once: 20, none: 4 } as const;
type EffectClass = keyof typeof ORDERS;
const CLASSES = Object.keys(ORDERS) as EffectClass[];
const IN_FLIGHT = ORDERS.idempotent + ORDERS.at_most_once + ORDERS.none;
/** Only idempotent effects may rely on the keys that the bank reads. */
const ACCOUNTS: Readonly<Record<EffectClass, string>> = {
  idempotent: "keyed",
  at_most_once: "naive-once",
  none: "naive-none",
};

type Order = {
  readonly runId: string;
  readonly effect: EffectClass;
  readonly name: string;
};

let cluster: Cluster;
let client: PawlClient;
let bank: Bank;
let db: Client;

beforeAll(async () => {
  bank = await openBank();
  cluster = await startCluster({
    executors: 0,
    envOf: {
      scheduler: {
        // The heir must be able to keep its claims on a busy machine: a lost one is no zombie.
        PAWL_LEASE_MS: "3000",
        PAWL_RENEW_MS: "500",
        PAWL_SWEEP_MS: "100",
        PAWL_GRACE_MS: "300",
      },
    },
  });
  client = createPawlClient({ baseUrl: cluster.url });
  db = new Client({ connectionString: cluster.databaseUrl });
  await db.connect();
});
beforeEach(({ onTestFailed }) => onTestFailed(() => console.error(cluster.logs())));
afterAll(async () => {
  await db.end();
  await cluster.stop();
  await bank.stop();
});

const registered = (executor: Executor): Promise<unknown> =>
  until(() => executor.logs().includes('"registered"'), { what: "an executor to register" });

const lostClaims = (executor: Executor): number => executor.logs().split('"claim lost"').length - 1;

/** Starts the orders of one round. */
async function place(round: number): Promise<Order[]> {
  const placed = CLASSES.flatMap((effect) =>
    Array.from({ length: ORDERS[effect] }, async (_, index): Promise<Order> => {
      const name = `${round}-${index}`;
      const url = bank.url(ACCOUNTS[effect], name);
      const charge = call(url, { config: { url, method: "POST", effect } });
      const { run } = await client.runs.test(graph(["start > charge"], { charge }));
      return { runId: run.runId, effect, name };
    }),
  );
  return await Promise.all(placed);
}

/** What the zombies held when they were frozen: the runs of each. */
async function heldBy(zombies: readonly Executor[]): Promise<ReadonlyMap<string, Set<string>>> {
  const { rows } = await db.query<{ executor_id: string; run_id: string }>(
    "select executor_id, run_id from pawl.leases where executor_id = any ($1)",
    [zombies.map(({ executorId }) => executorId)],
  );
  const held = new Map<string, Set<string>>();
  for (const { executor_id: id, run_id: runId } of rows)
    held.set(id, (held.get(id) ?? new Set()).add(runId));
  return held;
}

type Haunting = {
  /** The orders the zombies were at. */
  readonly orders: readonly Order[];
  /** How many of them were at any. */
  readonly freezes: number;
};

/** One freeze of every zombie, until another executor has finished everything and each zombie was refused. */
async function haunt(round: number, zombies: readonly Executor[]): Promise<Haunting> {
  const lostBefore = new Map(zombies.map((zombie) => [zombie.executorId, lostClaims(zombie)]));
  const orders = await place(round);
  await until(() => bank.heldCount === IN_FLIGHT, { what: "every charge to arrive" });
  for (const zombie of zombies) await zombie.kill("SIGSTOP");
  const held = await heldBy(zombies);
  // The money has moved; the zombies read the answer when they wake.
  bank.answerHeld();
  const isOver = async (): Promise<boolean> => {
    const text = "select 1 from pawl.runs where run_id = any ($1) and ended_at is null limit 1";
    return (await db.query(text, [orders.map(({ runId }) => runId)])).rows.length === 0;
  };
  await until(isOver, { what: "the heir to finish" });
  for (const zombie of zombies) await zombie.kill("SIGCONT");
  const isTold = (zombie: Executor): boolean => {
    const { executorId: id } = zombie;
    return lostClaims(zombie) - (lostBefore.get(id) ?? 0) >= (held.get(id)?.size ?? 0);
  };
  await until(() => zombies.every(isTold), { what: "the zombies to be refused every claim" });
  const haunted = new Set([...held.values()].flatMap((runIds) => [...runIds]));
  return { orders: orders.filter(({ runId }) => haunted.has(runId)), freezes: held.size };
}

const RECORDED = `
select class, count(*)::int as rows, count(committed_epoch)::int as committed,
  count(*) filter (where committed_epoch > begun_epoch)::int as by_heir
from pawl.effects
where run_id = any ($1)
group by class order by class`;

test("executors frozen again and again make one effect each, are refused, and leave one record (S0.40, S0.42, S0.43, S0.44)", async () => {
  // The scheduler gives work to the executor with the most room, so the zombies get it first.
  const start = (slots: string) => startExecutor(cluster, { PAWL_EXECUTOR_SLOTS: slots });
  const zombies = await Promise.all(Array.from({ length: ZOMBIES }, () => start("256")));
  await Promise.all([...zombies, await start("64")].map(registered));
  const haunted: Order[] = [];
  let freezes = 0;
  for (let round = 0; round < ROUNDS_MAX && freezes < FREEZES; round++) {
    const haunting = await haunt(round, zombies);
    haunted.push(...haunting.orders);
    freezes += haunting.freezes;
  }
  expect(freezes).toBeGreaterThanOrEqual(FREEZES);

  const bookings = (effect: EffectClass): number[] =>
    haunted
      .filter((order) => order.effect === effect)
      .map(({ name }) => bank.booked(ACCOUNTS[effect]).get(name) ?? 0);
  const of = (effect: EffectClass): number => bookings(effect).length;
  expect(bookings("idempotent").filter((count) => count !== 1)).toEqual([]);
  // Never a second call, even to a bank that would book it.
  expect(bookings("at_most_once").filter((count) => count !== 1)).toEqual([]);
  // Without ledger and keys every one of them is booked again: this test can fail.
  expect(bookings("none").filter((count) => count >= 2)).toHaveLength(of("none"));
  expect(of("none")).toBeGreaterThan(0);

  const { rows } = await db.query(RECORDED, [haunted.map(({ runId }) => runId)]);
  const [once, kept] = [of("at_most_once"), of("idempotent")];
  expect(rows).toEqual([
    { class: "at_most_once", rows: once, committed: 0, by_heir: 0 },
    { class: "idempotent", rows: kept, committed: kept, by_heir: kept },
  ]);
  const { rows: causes } = await db.query(
    "select distinct payload->>'cause' as cause from pawl.run_events where type = 'node.failed'",
  );
  expect(causes).toEqual([{ cause: "effect_unknown" }]);
  const refused = zombies.reduce((sum, zombie) => sum + lostClaims(zombie), 0);
  expect(refused).toBeGreaterThanOrEqual(haunted.length);
  expect(await checkInvariants(cluster.databaseUrl)).toEqual([]);
}, 180_000);

test("a statement that was committed before its executor died is not run again: its rows come from its own database (S0.38)", async () => {
  await db.query("create table bank_charges (id int generated always as identity, cents int)");
  const bankDb = { url: cluster.databaseUrl, mode: "read_write" };
  const env = { PAWL_DATA_SOURCES: JSON.stringify({ bank: bankDb }) };
  const doomed = await startExecutor(cluster, {
    ...failpoints("handler.after-run@1=kill"),
    ...env,
  });
  await registered(doomed);
  const sql = "insert into bank_charges (cents) values (5) returning id, cents";
  const charge = { type: "dataQuery", config: { source: "bank", sql } };
  const { run } = await client.runs.test(graph(["start > charge"], { charge }));
  expect(await doomed.exited()).toBe("SIGKILL");
  await startExecutor(cluster, env);
  const story = await storyOf(client, run.runId);
  expect(story.status).toBe("completed");
  expect(story.of("node.started", "charge")).toHaveLength(2);
  expect(story.outputOf("charge")).toMatchObject({ rows: [{ id: 1, cents: 5 }], row_count: 1 });
  const { rows } = await db.query("select count(*)::int as count from bank_charges");
  expect(rows).toEqual([{ count: 1 }]);
});
