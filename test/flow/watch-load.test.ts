// The bench `watch` at a small size: many watchers of live runs at one gateway that is killed.
import { afterAll, beforeAll, expect, test } from "vitest";
import { watchLoad } from "../bench/watch-load.ts";
import { type Cluster, startCluster } from "../support/cluster.ts";

let cluster: Cluster;
beforeAll(async () => {
  cluster = await startCluster();
});
afterAll(() => cluster.stop());

test("40 watchers of five live runs get every event once and in order over a killed gateway (S4.40)", async () => {
  const [gateway] = cluster.gateways;
  if (gateway === undefined) throw new Error("no gateway");
  const figures = await watchLoad({
    ...{ url: cluster.url, gateway, watchers: 40, runs: 5, processes: 2 },
    ...{ pieces: 60, intervalMs: 100 },
    ...{ stalled: 0, loudRuns: 0, loudNodes: 2, stallMs: 0, steadyMs: 0 },
  });
  expect(figures).toMatchObject({ complete: 40, cutOff: 0 });
  expect(figures.wholeMs).toBeLessThan(10_000);
});
