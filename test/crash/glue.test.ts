// A cluster without executors completes runs that are made only of glue, also when the scheduler is killed while the run waits for a delay. The
// job of the delayed node is in the queue of glue nodes, so the next scheduler finds it.
import { createPawlClient } from "@pawl/client";
import { expect, test } from "vitest";
import { graph } from "../flow/graph.ts";
import { firstEvent, storyOf } from "../flow/story.ts";
import { startCluster } from "../support/cluster.ts";
import { checkInvariants } from "../support/invariants.ts";
import { replaceScheduler } from "./processes.ts";

/** Without it every node passes through an executor. */
const HANDS_OFF = { PAWL_HAND_OFF: "true" };

test("a run made only of glue needs no executor, and a scheduler that dies during its delay loses nothing (S3.29, X13)", async () => {
  await using cluster = await startCluster({ executors: 0, envOf: { scheduler: HANDS_OFF } });
  const client = createPawlClient({ baseUrl: cluster.url, attempts: 30 });
  const definition = graph(["start > check:large > pause > each > end", "check:else > small"], {
    check: {
      type: "condition",
      config: { branches: [{ id: "large", when: "ctx.input.n > 1" }] },
    },
    pause: { type: "delay", config: { delay_ms: 2_000 } },
    each: { type: "map", config: { items: "{{ ctx.input.list }}", body: { type: "noop" } } },
    small: { type: "noop" },
  });
  const { run } = await client.runs.test(definition, { input: { n: 2, list: [1, 2, 3] } });
  await firstEvent(
    client,
    run.runId,
    ({ type, nodeId }) => type === "node.completed" && nodeId === "pause",
  );
  await cluster.schedulers[0]?.kill("SIGKILL");
  await replaceScheduler(cluster, HANDS_OFF);
  const story = await storyOf(client, run.runId);
  expect(story.status, story.run.errorMessage).toBe("completed");
  expect(story.output).toEqual([{}, {}, {}]);
  expect(story.of("node.started")).toEqual([]);
  expect(story.of("node.queued").map(({ nodeId }) => nodeId)).toEqual(["each"]);
  expect(await checkInvariants(cluster.databaseUrl, [run.runId])).toEqual([]);
});
