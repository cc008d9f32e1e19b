// Executors that are frozen in the middle of an effect, past their lease, and wake up when another has finished their work: two
// hundred times. Every effect has one booking and one record, the zombie is refused, and a receiver or a node that looks at
// neither keys nor ledger shows that it would have been two.
import { createPawlClient, type PawlClient } from "@pawl/client";
import { Client } from "pg";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { call, graph } from "../flow/graph.ts";
import { storyOf } from "../flow/story.ts";
import { type Cluster, startCluster } from "../support/cluster.ts";
import { checkInvariants } from "../support/invariants.ts";
import { until } from "../support/until.ts";
import { openBank, type Bank } from "./bank.ts";
import { failpoints, startExecutor, type Executor } from "./crew.ts";

const ZOMBIES = 200;
/** More freezes than it takes, where a busy machine gives some orders to the heir at once. */
const ROUNDS_MAX = 12;
/** Orders in flight at every freeze, by what is promised about them. */
const ORDERS = { idempotent: 20, at_most_once: 20, none: 4 } as const;
type EffectClass = keyof typeof ORDERS;
const CLASSES = Object.keys(ORDERS) as EffectClass[];
const IN_FLIGHT = ORDERS.idempotent + ORDERS.at_most_once + ORDERS.none;
/** Only what is idempotent may rely on the bank's looking at keys. */
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

/** One freeze, until another has finished everything and the zombie is told. Gives the orders the zombie was at. */
async function haunt(round: number, zombie: Executor): Promise<Order[]> {
  const lostBefore = lostClaims(zombie);
  const orders = await place(round);
  await until(() => bank.heldCount === IN_FLIGHT, { what: "every charge to arrive" });
  await zombie.kill("SIGSTOP");
  const { rows } = await db.query<{ run_id: string }>(
    "select run_id from pawl.leases where executor_id = $1",
    [zombie.executorId],
  );
  const held = new Set(rows.map((row) => row.run_id));
  // The money has moved; the zombie will hear of it when it wakes.
  bank.answerHeld();
  const isOver = async (): Promise<boolean> => {
    const text = "select 1 from pawl.runs where run_id = any ($1) and ended_at is null limit 1";
    return (await db.query(text, [orders.map(({ runId }) => runId)])).rows.length === 0;
  };
  await until(isOver, { what: "the heir to finish" });
  await zombie.kill("SIGCONT");
  await until(() => lostClaims(zombie) - lostBefore >= held.size, {
    what: "the zombie to be refused every claim",
  });
  return orders.filter(({ runId }) => held.has(runId));
}

const RECORDED = `
select class, count(*)::int as rows, count(committed_epoch)::int as committed,
  count(*) filter (where committed_epoch > begun_epoch)::int as by_heir
from pawl.effects
where run_id = any ($1)
group by class order by class`;

test("two hundred zombies make one effect each, are refused, and leave one record (S0.40, S0.42, S0.43, S0.44)", async () => {
  // Work goes to whoever has the most room, so the zombie gets it first.
  const zombie = await startExecutor(cluster, { PAWL_EXECUTOR_SLOTS: "256" });
  const heir = await startExecutor(cluster, { PAWL_EXECUTOR_SLOTS: "64" });
  await Promise.all([zombie, heir].map(registered));
  const haunted: Order[] = [];
  for (let round = 0; round < ROUNDS_MAX && haunted.length < ZOMBIES; round++)
    haunted.push(...(await haunt(round, zombie)));
  expect(haunted.length).toBeGreaterThanOrEqual(ZOMBIES);

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
  expect(lostClaims(zombie)).toBeGreaterThanOrEqual(haunted.length);
  expect(await checkInvariants(cluster.databaseUrl)).toEqual([]);
}, 180_000);

test("a statement that was committed before its executor died is not run again: its rows come from its own database (S0.38)", async () => {
  await db.query("create table bank_charges (id int generated always as identity, cents int)");
  const bankDb = { url: cluster.databaseUrl, mode: "read_write" };
  const env = { PAWL_DATA_SOURCES: JSON.stringify({ bank: bankDb }) };
  const doomed = await startExecutor(cluster, { ...failpoints("X3@2=kill"), ...env });
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
