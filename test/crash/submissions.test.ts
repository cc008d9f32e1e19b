// The gateway dies under many submissions: every run exists once, and every caller gets its end from the gateway that replaces it.
import { Client } from "pg";
import { createPawlClient } from "@pawl/client";
import { expect, onTestFinished, test } from "vitest";
import { startCluster } from "../support/cluster.ts";
import { until } from "../support/until.ts";

const COUNT = 200;
const SLOW = JSON.stringify({
  nodes: [
    { id: "start", type: "start" },
    { id: "wait", type: "delay", config: { delay_ms: 1_500 } },
    { id: "end", type: "end" },
  ],
  edges: [
    { source: "start", target: "wait" },
    { source: "wait", target: "end" },
  ],
});

for (const gateways of [1, 2])
  test(`kill -9 of a gateway, of ${gateways}, under ${COUNT} submissions: each run exists once, each caller gets its end`, async () => {
    const cluster = await startCluster({ gateways });
    onTestFinished(() => cluster.stop());
    const urls = cluster.gateways.map(({ url }) => url);
    const client = createPawlClient({ baseUrl: urls });
    onTestFinished(() => client.close());
    await client.workflows.apply(SLOW, { workflowId: "slow" });
    let accepted = 0;
    const ids = new Set<string>();
    const runs = Array.from({ length: COUNT }, (_, at) =>
      client.run(
        "slow",
        { at },
        {
          onStart: ({ runId }) => {
            accepted += 1;
            ids.add(runId);
          },
        },
      ),
    );
    // Some are accepted and wait for their end, others wait for their answer.
    await until(() => accepted > 0, { what: "the first run to be accepted" });
    const [victim] = cluster.gateways;
    await victim?.kill("SIGKILL");
    if (gateways === 1) await victim?.restart();
    const outcomes = await Promise.allSettled(runs);
    expect(outcomes.filter(({ status }) => status === "rejected")).toEqual([]);
    expect(ids.size).toBe(COUNT);
    const db = new Client({ connectionString: cluster.databaseUrl });
    await db.connect();
    const { rows } = await db.query(
      "select count(*)::int as runs, count(*) filter (where status = 'completed')::int as completed from pawl.runs",
    );
    await db.end();
    expect(rows).toEqual([{ runs: COUNT, completed: COUNT }]);
  });
