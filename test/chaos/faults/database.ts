// F5 and F6: the database stops, or single connections to it break.
import { setTimeout as pause } from "node:timers/promises";
import { between, oneOf, type Fault } from "../fault.ts";

const SIGNALS = ["SIGKILL", "SIGQUIT", "SIGINT"] as const;
const DOWN_MS = 2_000;

/** F5: killed, ended at once or ended fast, and back within two seconds. */
export const databaseCrash: Fault = {
  id: "F5",
  title: "PostgreSQL killed, stopped immediately, stopped fast",
  hits: { short: 1, smoke: 3, full: 30 },
  gapMs: [1_000, 3_000],
  strike: async ({ cluster, random }, nth) => {
    const signal = SIGNALS[nth % SIGNALS.length] ?? "SIGKILL";
    const at = Date.now();
    await cluster.postgres.crash(signal);
    await pause(between(0, DOWN_MS, random));
    await cluster.postgres.restart();
    return { target: "postgres", detail: signal, isObserved: true, at, overAt: Date.now() };
  },
};

const BACKENDS = `
select pid, application_name as name from pg_stat_activity
where application_name like 'pawl%' and pid <> pg_backend_pid() and backend_type = 'client backend'`;

/** F6: sessions are ended by the server; every other time one that listens. */
export const backendKill: Fault = {
  id: "F6",
  title: "pg_terminate_backend, LISTEN sessions among them",
  hits: { short: 2, smoke: 8, full: 200 },
  gapMs: [100, 500],
  strike: async ({ db, random }, nth) => {
    const client = await db();
    const { rows } = await client.query<{ pid: number; name: string }>(BACKENDS);
    const listening = rows.filter(({ name }) => name === "pawl-listen");
    const target = oneOf(nth % 2 === 0 && listening.length > 0 ? listening : rows, random);
    const at = Date.now();
    const { rows: ended } = await client.query<{ done: boolean }>(
      "select pg_terminate_backend($1) as done",
      [target.pid],
    );
    const isObserved = ended[0]?.done === true;
    return { target: target.name, detail: `pid ${target.pid}`, isObserved, at, overAt: at };
  },
};
