// The gateway dies while a Go program submits many runs: every run exists once, and every caller gets its answer from the gateway that
// replaces it. The program is clients/go/pawl/submit_flow_test.go; it kills the gateway itself.
import { join } from "node:path";
import { Client } from "pg";
import { expect, test } from "vitest";
import { startCluster } from "../support/cluster.ts";
import { goOrSkip } from "../support/go.ts";
import { checkInvariants } from "../support/invariants.ts";
import { ROOT } from "../tidy/sources.ts";

const COUNT = 400;

for (const gateways of [1, 2])
  test(`kill -9 of a gateway, of ${gateways}, under ${COUNT} submissions of a Go program: each run exists once and each caller gets its answer`, async (context) => {
    const go = goOrSkip(context);
    await using cluster = await startCluster({ gateways });
    const [victim] = cluster.gateways;
    const isKilled = victim?.exited();
    const isBack = isKilled?.then(() => (gateways === 1 ? victim?.restart() : undefined));
    const output = await go(
      join(ROOT, "clients", "go"),
      ["test", "-count=1", "-v", "-run", "^TestSubmitFlow$", "./pawl"],
      {
        PAWL_TEST_GATEWAYS: cluster.gateways.map(({ url }) => new URL(url).host).join(","),
        PAWL_TEST_VICTIM: String(victim?.pid),
      },
    );
    await isBack;
    expect(await isKilled).toBe("SIGKILL");
    expect(output).toContain("--- PASS: TestSubmitFlow");
    const db = new Client({ connectionString: cluster.databaseUrl });
    await db.connect();
    const { rows } = await db.query(
      "select count(*)::int as runs, count(*) filter (where status = 'completed')::int as completed from pawl.runs",
    );
    await db.end();
    expect(rows).toEqual([{ runs: COUNT, completed: COUNT }]);
    expect(await checkInvariants(cluster.databaseUrl)).toEqual([]);
  }, 180_000);
