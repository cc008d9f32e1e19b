// A scheduler dies in the commit that ends a round, or right behind it. The next one repeats the round once: no execution is lost, and none is
// done twice under one key.
import { createPawlClient, type PawlClient } from "@pawl/client";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { graph } from "../flow/graph.ts";
import { SINK_EGRESS, startSink, type Sink } from "../flow/sink.ts";
import { storyOf } from "../flow/story.ts";
import { type Cluster, startCluster } from "../support/cluster.ts";
import { checkInvariants } from "../support/invariants.ts";
import { failpoints, replaceScheduler } from "./processes.ts";

let cluster: Cluster;
let client: PawlClient;
let sink: Sink;

beforeAll(async () => {
  sink = await startSink();
  cluster = await startCluster({
    env: SINK_EGRESS,
    envOf: { scheduler: { PAWL_GRACE_MS: "200" } },
  });
  client = createPawlClient({ baseUrl: cluster.url, attempts: 30 });
});
beforeEach(({ onTestFailed }) => onTestFailed(() => console.error(cluster.logs())));
afterAll(async () => {
  await cluster.stop();
  await sink.stop();
});

const work = {
  type: "http",
  config: { url: "", method: "POST", idempotency_key_header: "Idempotency-Key" },
};

/** Five rounds of an effect, and a join behind them. */
function rounds(name: string) {
  const text = graph(["start > count > work > judge:else > after > end", "start > side > after"], {
    count: {
      type: "javascript",
      config: { code: "return (ctx.count ?? 0) + 1" },
      output_variable: "count",
    },
    work: { ...work, config: { ...work.config, url: sink.url(name) } },
    judge: {
      type: "condition",
      config: { branches: [{ id: "again", when: "ctx.vars.count < 5" }] },
    },
  });
  const back = { source: "judge", target: "count", source_handle: "again", loop: true };
  return { ...text, edges: [...text.edges, back] };
}

test("a scheduler killed in the commits that end rounds repeats each round once (X13, S0.36, S0.39)", async () => {
  await cluster.schedulers[0]?.kill("SIGKILL");
  const points = ["tick.round-ends@1", "tick.round-ends@4", "tick.after-commit@6"];
  const accepted: Promise<string>[] = [];
  for (const [at, point] of points.entries()) {
    const doomed = await replaceScheduler(cluster, failpoints(`${point}=kill`));
    accepted.push(client.runs.test(rounds(`work-${at}`)).then(({ run }) => run.runId));
    expect(await doomed.exited(), point).toBe("SIGKILL");
  }
  await replaceScheduler(cluster);
  const runIds = await Promise.all(accepted);
  for (const [at, runId] of runIds.entries()) {
    const story = await storyOf(client, runId);
    expect(story.status).toBe("completed");
    const iterations = (id: string) =>
      story.of("node.completed", id).map(({ iteration }) => iteration);
    for (const id of ["count", "work", "judge"]) expect(iterations(id)).toEqual([0, 1, 2, 3, 4]);
    expect(iterations("after")).toEqual([0]);
    expect(story.outputOf("count")).toBe(5);
    const keys = sink.calls.filter(({ name }) => name === `work-${at}`);
    expect(new Set(keys.map(({ idempotencyKey }) => idempotencyKey)).size).toBe(5);
  }
  expect(await checkInvariants(cluster.databaseUrl, runIds)).toEqual([]);
});
