// A repair that takes tens of thousands of facts over, in one transaction, while other runs continue.
import { createPawlClient } from "@pawl/client";
import { expect, test } from "vitest";
import { startCluster } from "../support/cluster.ts";
import { checkInvariants } from "../support/invariants.ts";
import { graph, names, script } from "./graph.ts";
import { runGraph, storyOf } from "./story.ts";

const WIDTH = 10_000;

const map = {
  type: "map",
  config: {
    items: Array.from({ length: WIDTH }, (_, index) => index),
    body: { type: "noop" },
    parallelism: 1_000,
  },
};

test(
  "a run with ten thousand completed items is repaired in one commit, and a run beside it is not lost (X28)",
  { timeout: 240_000 },
  async () => {
    await using cluster = await startCluster();
    const client = createPawlClient({ baseUrl: cluster.url });
    const maps = names("m", 1);
    const origin = await runGraph(
      client,
      graph([...maps.map((id) => `start > ${id}:loop > gate`), "gate > end"], {
        ...Object.fromEntries(maps.map((id) => [id, map])),
        gate: script("return 1"),
      }),
    );
    expect(origin.status).toBe("completed");
    // Nothing of the maps themselves is reused, only their items.
    const first = origin.events.find(
      ({ type, nodeId, iteration }) =>
        type === "node.completed" && nodeId.startsWith("m") && iteration === 0,
    );
    const fromEventId = (first?.eventId ?? 0) - 1;
    const plan = await client.runs.planRepair(origin.runId, { fromEventId });
    expect(plan.reusedFacts).toBeGreaterThan(WIDTH * 0.5);
    const [{ run }, beside] = await Promise.all([
      client.runs.repair(origin.runId, { fromEventId, planDigest: plan.digest }),
      runGraph(client, graph(["start > step > end"], { step: script("return 1") })),
    ]);
    expect(beside.status).toBe("completed");
    expect(beside.of("run.recovered")).toEqual([]);
    const story = await storyOf(client, run.runId);
    expect(story.status).toBe("completed");

    expect(await checkInvariants(cluster.databaseUrl, [run.runId])).toEqual([]);
  },
);
