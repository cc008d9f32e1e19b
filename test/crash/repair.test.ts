// A scheduler dies around the transaction that starts a repaired run. The run, its link and the facts that it takes over are there together or
// not at all. The client repeats its request and gets one run.
import { createPawlClient, type PawlClient } from "@pawl/client";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { broken, call, graph, script } from "../flow/graph.ts";
import { SINK_EGRESS, startSink, type Sink } from "../flow/sink.ts";
import { runGraph, storyOf } from "../flow/story.ts";
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

const workflow = (name: string, mended: boolean) =>
  graph(["start > paid > map:loop > step > end"], {
    paid: call(sink.url(name)),
    map: {
      type: "map",
      config: {
        items: [1, 2, 3],
        body: { type: "javascript", config: { code: "return ctx.item" } },
      },
    },
    step: mended ? script("return { mended: true }") : broken(),
  });

test("a scheduler killed before or after the commit of a repair starts one run, with all reused facts (X28, S0.36)", async () => {
  const points = [
    "start.before-submit",
    "tick.before-commit",
    "tick.after-commit",
    "start.after-commit",
  ];
  const origins = [];
  for (const point of points) origins.push(await runGraph(client, workflow(point, false)));
  await cluster.schedulers[0]?.kill("SIGKILL");
  const repaired: Promise<string>[] = [];
  for (const [at, point] of points.entries()) {
    const doomed = await replaceScheduler(cluster, failpoints(`${point}@1=kill`));
    const definition = workflow(point, true);
    const asked = client.runs.repair(origins[at]?.runId ?? "", { definition, requestId: point });
    repaired.push(asked.then(({ run }) => run.runId));
    expect(await doomed.exited(), point).toBe("SIGKILL");
  }
  await replaceScheduler(cluster);
  for (const [at, point] of points.entries()) {
    const runId = await repaired[at];
    const story = await storyOf(client, runId ?? "");
    expect(story.status, point).toBe("completed");
    expect(story.outputOf("map")).toEqual([1, 2, 3]);
    const { run } = await client.runs.get(origins[at]?.runId ?? "");
    expect(run.repairedBy, point).toEqual([runId]);
    expect(sink.calls.filter(({ name }) => name === point)).toHaveLength(1);
    // A claim that died with its scheduler is given out again.
    expect(new Set(story.of("node.started").map(({ nodeId }) => nodeId))).toEqual(
      new Set(["step"]),
    );
  }
  expect(await checkInvariants(cluster.databaseUrl)).toEqual([]);
});
