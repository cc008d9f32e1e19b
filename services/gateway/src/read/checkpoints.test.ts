import { fold } from "@pawl/core/log/fold";
import { parseSavedDefinition } from "@pawl/core/definition/parse";
import { writeSnapshot } from "@pawl/core/log/snapshot";
import { readEvents } from "@pawl/platform/store/log/reads";
import { expect, test } from "vitest";
import { startGateway } from "../gateway.fixture.ts";
import { Checkpoints } from "./checkpoints.ts";

const EVENTS = 4_500;
/** The spelling of the user's JSON must survive every way to read it. */
const ODD = String.raw`{ "k" : ["\u0000 \"é\ud83d\ude00", 1.50e0, 12345678901234567890] }`;

test("a fold that begins at a checkpoint is the fold of the whole log, and a bound drops checkpoints and nothing else (S2.35, X5)", async () => {
  const gateway = await startGateway();
  const { pool } = gateway;
  const runId = await gateway.addRun();
  await pool.query({
    text: `with moved as (update runs set last_seq = $2 where run_id = $1)
      insert into run_events (run_id, seq, type, node_id, iteration, attempt, epoch, ordinal, payload, value)
      select $1, seq, 'memory.updated', 'a', 0, 1, 0, 0, '{"keys":["k"]}',
        case when seq % 2 = 0 then json_build_object('k', seq) else $3::json end
      from generate_series(2, $2::integer) seq`,
    values: [runId, EVENTS, ODD],
  });
  const { rows } = await pool.query<{ body: string }>({
    text: "select d.body from runs r join definitions d using (definition_id) where r.run_id = $1",
    values: [runId],
  });
  const parsed = parseSavedDefinition(rows[0]?.body ?? "");
  if (!parsed.ok) throw new Error("the definition of the fixture is invalid");
  const { graph } = parsed;
  const roomy = new Checkpoints();
  const tight = new Checkpoints(1);
  for (const at of [EVENTS, 1, 2_000, 2_001, 3_999, 4_000, 4_321]) {
    const events = [];
    for (let after = 0; after < at; after = events.at(-1)?.seq ?? at)
      events.push(...(await readEvents(pool, runId, after, at - after)).events);
    const whole = writeSnapshot(fold(runId, graph, events));
    for (const checkpoints of [roomy, tight])
      expect(writeSnapshot(await checkpoints.foldAt(pool, runId, graph, at)), `${at}`).toBe(whole);
  }
  await expect(roomy.foldAt(pool, runId, graph, EVENTS + 1)).rejects.toMatchObject({
    reason: "EVENT_LOG_CORRUPTION",
  });
});
