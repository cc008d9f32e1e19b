// PostgreSQL's notifications are all lost, and nothing else is. Two schedulers serve one database, so jobs that one of them queues are taken
// by the other only after a look at the queues.
import { createPawlClient } from "@pawl/client";
import { expect, test } from "vitest";
import { startProxy } from "../chaos/proxy.ts";
import { graph, names } from "../flow/graph.ts";
import { storyOf } from "../flow/story.ts";
import { startCluster } from "../support/cluster.ts";
import { checkInvariants } from "../support/invariants.ts";
import { freshDatabase } from "../support/postgres.ts";

const POLL = { PAWL_POLL_MS: "200" };

test("runs start, wait, continue and end while every notification is lost, and watchers get every event (S4.1, S4.19, S4.20)", async () => {
  const database = await freshDatabase();
  const direct = new URL(database.url);
  const link = await startProxy("database", Number(direct.port), {
    random: Math.random,
    isPostgres: true,
  });
  const through = new URL(direct);
  through.port = String(link.port);
  link.poison({ kind: "lost notifications" });
  try {
    // Every node passes through the queue, so every hop needs a scheduler that looks.
    await using cluster = await startCluster({
      ...{ schedulers: 2, executors: 1, gateways: 1, databaseUrl: through.href },
      envOf: { scheduler: { ...POLL, PAWL_HAND_OFF: "false" }, gateway: POLL },
    });
    const client = createPawlClient({ baseUrl: cluster.url });
    const definition = graph(["start > pause > work"], {
      pause: { type: "delay", config: { delay_ms: 50 } },
      work: { type: "javascript", config: { code: "return { id: ctx.input.id };" } },
    });
    await client.workflows.create(definition, { workflowId: "unnotified" });
    const started = await Promise.all(
      names("run", 10).map((id) => client.runs.start("unnotified", { input: { id } })),
    );
    const stories = await Promise.all(started.map(({ run }) => storyOf(client, run.runId)));
    for (const story of stories) {
      expect(story.status).toBe("completed");
      expect(story.events.map(({ eventId }) => eventId)).toEqual(
        story.events.map((_, index) => index + 1),
      );
    }
    expect(link.spoiled()).toBeGreaterThan(0);
    expect(await checkInvariants(database.url)).toEqual([]);
  } finally {
    await link.stop();
    await database.drop();
  }
});
