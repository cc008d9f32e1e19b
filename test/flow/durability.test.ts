import { LOOPBACK } from "@pawl/deploy/ports.ts";
import { expect, test } from "vitest";
import { startCluster } from "../support/cluster.ts";

test("services on a database that may lose commits serve, and say so in their log and in /readyz", async () => {
  // The server of the tests runs with fsync, synchronous_commit and full_page_writes off.
  await using cluster = await startCluster({ executors: 0 });
  for (const member of [...cluster.schedulers, ...cluster.gateways]) {
    const response = await fetch(`http://${LOOPBACK}:${member.probePort}/readyz`, {
      headers: { accept: "application/json" },
    });
    expect(await response.json()).toMatchObject({
      ready: true,
      notes: {
        "database.fsync": expect.stringContaining("fsync is off"),
        "database.full_page_writes": expect.stringContaining("full_page_writes is off"),
        "database.synchronous_commit": expect.stringContaining("synchronous_commit is off"),
      },
    });
    expect(member.logs().match(/Set fsync = on in PostgreSQL/g)).toHaveLength(1);
  }
});
