// The executor of a map dies in the middle. Other executors run its iterations, each completed once, under its own effect key.
import { createPawlClient } from "@pawl/client";
import { expect, test } from "vitest";
import { graph } from "../flow/graph.ts";
import { startSink } from "../flow/sink.ts";
import { storyOf } from "../flow/story.ts";
import { startCluster } from "../support/cluster.ts";
import { checkInvariants } from "../support/invariants.ts";
import { until } from "../support/until.ts";
import { startExecutor } from "./processes.ts";

test("an executor killed in the middle of a map costs deliveries, and every item completes once (S3.30, S0.35)", async () => {
  const sink = await startSink();
  await using cluster = await startCluster({
    executors: 0,
    envOf: { scheduler: { PAWL_GRACE_MS: "500" } },
  });
  const client = createPawlClient({ baseUrl: cluster.url });
  const doomed = await startExecutor(cluster);
  const url = `${sink.url("hold")}-{{index}}`;
  const headers = { idempotency_key_header: "Idempotency-Key" };
  const body = { type: "http", config: { url, method: "POST", ...headers } };
  const items = Array.from({ length: 12 }, (_, index) => index);
  const { run } = await client.runs.test(
    graph(["start > each > after"], {
      each: { type: "map", config: { items, body, parallelism: 4 } },
    }),
  );
  // Two are answered, two are held when it dies.
  for (const index of [0, 1]) (await sink.received(`hold-${index}`)).answer(200, { index });
  await Promise.all([2, 3, 4, 5].map((index) => sink.received(`hold-${index}`)));
  await doomed.kill("SIGKILL");
  await startExecutor(cluster);
  const answered = new Set<number>();
  const answerAll = (): boolean => {
    for (const call of sink.calls) {
      const index = Number(call.name.split("-")[1]);
      const again = sink.calls.filter(({ name }) => name === call.name).length;
      if (index < 2 || answered.has(index) || (index < 6 && again < 2)) continue;
      answered.add(index);
      sink.calls.findLast(({ name }) => name === call.name)?.answer(200, { index });
    }
    return answered.size === 10;
  };
  await until(answerAll, { what: "every item to be called" });
  const story = await storyOf(client, run.runId);
  expect(story.status).toBe("completed");
  const completed = story.of("node.completed", "each").map(({ iteration }) => iteration);
  expect(completed.toSorted((a, b) => a - b)).toEqual([0, ...items.map((index) => index + 1)]);
  expect(story.outputOf("each")).toMatchObject(items.map((index) => ({ body: { index } })));
  const lost = story.of("run.recovered").map(({ iteration }) => iteration);
  expect(lost.toSorted((a, b) => a - b)).toEqual([3, 4, 5, 6]);
  const keys = sink.calls
    .filter(({ name }) => name === "hold-2")
    .map((call) => call.idempotencyKey);
  expect(keys).toEqual([`${run.runId}/each/3`, `${run.runId}/each/3`]);
  expect(await checkInvariants(cluster.databaseUrl, [run.runId])).toEqual([]);
  await sink.stop();
});
