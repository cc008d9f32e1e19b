// F32, F33 and F34: the database runs and refuses writes. Either it is read-only for all runs, or it refuses one run: another session locks
// the row of the run, or a row that is not the engine's comes after the end of its log. Results wait, the run at fault waits or is set
// aside, and no process has to be killed.
import { setTimeout as pause } from "node:timers/promises";
import { Client } from "pg";
import { until } from "../../support/until.ts";
import { between, type Fault, oneOf, type Scene, type Size } from "../fault.ts";

const HOLD_MS: Readonly<Record<Size, number>> = { short: 1_500, smoke: 2_000, full: 10_000 };
const SET_ASIDE_WITHIN_MS = 10_000;

/** A session that may write whatever the default is. */
async function connect({ cluster }: Scene): Promise<Client> {
  const options = "-c default_transaction_read_only=off -c search_path=pawl";
  const client = new Client({ connectionString: cluster.databaseUrl, options });
  client.on("error", () => undefined);
  await client.connect();
  return client;
}

/** F32: the server takes no writes for a while, as a standby does that has just lost its primary. */
export const readOnlyDatabase: Fault = {
  id: "F32",
  title: "a database that is read-only for a while",
  hits: { short: 1, smoke: 1, full: 10 },
  gapMs: [500, 1_500],
  everyMs: 150,
  strike: async (scene) => {
    const client = await connect(scene);
    const at = Date.now();
    await client.query("alter system set default_transaction_read_only = on");
    await client.query("select pg_reload_conf()");
    await pause(HOLD_MS[scene.size] * between(1, 1.5, scene.random));
    const { status } = await fetch(`${scene.cluster.gateways[0]?.url}/readyz`);
    await client.query("alter system reset default_transaction_read_only");
    await client.query("select pg_reload_conf()");
    await client.end();
    const detail = `readyz answered ${status}`;
    return { target: "postgres", detail, isObserved: status === 503, at, overAt: Date.now() };
  },
};

const LIVE = "select run_id from runs where ended_at is null and quarantined_at is null";

/** A run that is on its way. */
async function liveRun(client: Client, { random }: Scene): Promise<string> {
  const runs = await until(
    async () => {
      const { rows } = await client.query<{ run_id: string }>(LIVE);
      return rows.length === 0 ? undefined : rows;
    },
    { what: "a run that is on its way" },
  );
  return oneOf(runs, random).run_id;
}

/** F33: another session locks the row of a run in an open transaction and keeps it for a while. */
export const lockedRun: Fault = {
  id: "F33",
  title: "a run whose row another session holds",
  hits: { short: 1, smoke: 2, full: 20 },
  gapMs: [200, 500],
  everyMs: 150,
  strike: async (scene) => {
    const client = await connect(scene);
    const runId = await liveRun(client, scene);
    const at = Date.now();
    await client.query("begin");
    const { rowCount } = await client.query(
      "select 1 from runs where run_id = $1 and ended_at is null for update",
      [runId],
    );
    await pause(HOLD_MS[scene.size] * between(1, 1.5, scene.random));
    await client.query("rollback");
    await client.end();
    return { target: runId, detail: "locked", isObserved: rowCount === 1, at, overAt: Date.now() };
  },
};

const STRAY = `
insert into run_events (run_id, seq, type, node_id, iteration, attempt, epoch, ordinal, payload)
select run_id, last_seq + 1, 'node.log', 'stray', 0, 1, 0, 0, '{}' from runs where run_id = $1 and ended_at is null for update`;
const MEND = `
delete from run_events e using runs r where r.run_id = $1 and e.run_id = r.run_id and e.seq > r.last_seq`;

/** F34: a row after the end of a run's log. The run is set aside, mended and rechecked, and continues. */
export const tornRun: Fault = {
  id: "F34",
  title: "a stray row behind the log of a run",
  hits: { short: 1, smoke: 2, full: 20 },
  gapMs: [200, 500],
  everyMs: 150,
  strike: async (scene) => {
    const client = await connect(scene);
    const runId = await liveRun(client, scene);
    const at = Date.now();
    const { rowCount } = await client.query(STRAY, [runId]);
    const isSetAside = async (): Promise<boolean> => {
      const { rows } = await client.query(
        "select 1 from runs where run_id = $1 and quarantined_at is not null",
        [runId],
      );
      return rows.length > 0;
    };
    const isObserved =
      rowCount === 1 &&
      (await until(isSetAside, { what: "the quarantine", timeoutMs: SET_ASIDE_WITHIN_MS }).catch(
        () => false,
      ));
    await client.query(MEND, [runId]);
    await client.end();
    if (isObserved) await scene.cluster.clients[0]?.runs.recheck(runId);
    return { target: runId, detail: "torn", isObserved, at, overAt: Date.now() };
  },
};
