// The browser's own EventSource on the SSE route of a real trio: no client code of ours reads the stream.

import { createPawlClient, type PawlClient } from "@pawl/client";
import { EVENTS } from "@pawl/core/log/event-table";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { call, graph } from "../flow/graph.ts";
import { SINK_EGRESS, startSink, type Sink } from "../flow/sink.ts";
import { type Cluster, startCluster } from "../support/cluster.ts";
import { launchChromium } from "./chromium.ts";

let sink: Sink;
let cluster: Cluster;
let browser: Browser;
let client: PawlClient;

beforeAll(async () => {
  sink = await startSink();
  cluster = await startCluster({ envOf: { executor: SINK_EGRESS } });
  browser = await launchChromium();
  client = createPawlClient({ baseUrl: cluster.url, attempts: 30 });
});
beforeEach(({ onTestFailed }) => onTestFailed(() => console.error(cluster.logs())));
afterAll(async () => {
  await browser.close();
  await cluster.stop();
  await sink.stop();
});

/** What a page's EventSource got, kept on the page itself. */
interface Listening {
  readonly source: EventSource;
  readonly seen: { readonly id: string; readonly type: string; readonly data: string }[];
  openings: number;
}
type ListeningPage = typeof globalThis & { listening: Listening };

/** Opens an EventSource in the page and keeps every event of the given types. */
const listen = (
  page: Page,
  url: string,
  types: readonly string[] = Object.keys(EVENTS),
): Promise<void> =>
  page.evaluate(
    ({ address, types: names }) => {
      const listening: Listening = { source: new EventSource(address), seen: [], openings: 0 };
      listening.source.addEventListener("open", () => (listening.openings += 1));
      for (const type of names)
        listening.source.addEventListener(type, ({ lastEventId: id, data }) =>
          listening.seen.push({ id, type, data: String(data) }),
        );
      (globalThis as ListeningPage).listening = listening;
    },
    { address: url, types },
  );

const seenBy = (page: Page): Promise<Listening["seen"]> =>
  page.evaluate(() => (globalThis as ListeningPage).listening.seen);

test("a native EventSource reads a run whose gateway is killed: every event once, and it stays closed at the end (S1.45, S1.52, S1.53, S1.54)", async () => {
  const [gateway] = cluster.gateways;
  if (gateway === undefined) throw new Error("no gateway");
  const work = call(sink.url("hold-native"));
  const { run } = await client.runs.test(graph(["start > work > after > end"], { work }));
  const held = await sink.received("hold-native");
  const page = await browser.newPage();
  await page.goto(`${cluster.url}/healthz`);
  await listen(page, `/execute/workflows/${run.runId}/events`);
  await expect.poll(async () => (await seenBy(page)).at(-1)?.type).toBe("node.started");

  await gateway.kill("SIGKILL");
  held.answer(200);
  await gateway.restart();
  await expect
    .poll(async () => (await seenBy(page)).at(-1)?.type, { timeout: 30_000 })
    .toBe("run.completed");
  const { events } = await client.events.list(run.runId);
  const seen = await seenBy(page);
  expect(seen.map(({ id, type }) => `${id} ${type}`)).toEqual(
    events.map(({ eventId, type }) => `${eventId} ${type}`),
  );
  expect(seen.map(({ data }) => (JSON.parse(data) as { type: string }).type)).toEqual(
    events.map(({ type }) => type),
  );
  // The browser asks once more with its cursor; 204 tells it to stop.
  await expect
    .poll(() => page.evaluate(() => (globalThis as ListeningPage).listening.source.readyState), {
      timeout: 30_000,
    })
    .toBe(2);
  expect(await page.evaluate(() => (globalThis as ListeningPage).listening.openings)).toBe(2);
  expect(await seenBy(page)).toHaveLength(events.length);
  await page.close();
});

test("a native EventSource reads a run in modes over a killed gateway: every item once, to the control item done (S1.54, S4.11, S4.40)", async () => {
  const [gateway] = cluster.gateways;
  if (gateway === undefined) throw new Error("no gateway");
  const work = call(sink.url("hold-modes"));
  const { run } = await client.runs.test(graph(["start > work > after > end"], { work }));
  const held = await sink.received("hold-modes");
  const page = await browser.newPage();
  await page.goto(`${cluster.url}/healthz`);
  const modes = ["metadata", "control", "updates", "values"] as const;
  await listen(page, `/execute/workflows/${run.runId}/events?modes=${modes.join()}`, modes);
  const last = async () => (await seenBy(page)).at(-1)?.data ?? "";
  await expect.poll(last).toContain('"status":"running"');

  await gateway.kill("SIGKILL");
  held.answer(200);
  await gateway.restart();
  await expect.poll(last, { timeout: 30_000 }).toContain('"signal":"done"');
  const expected: string[] = [];
  for await (const { eventId, mode } of client.stream(run.runId, { modes }))
    expected.push(`${eventId} ${mode}`);
  const seen = (await seenBy(page)).map(({ data }) => JSON.parse(data) as SeenItem);
  expect(seen.map(({ eventId, mode }) => `${eventId} ${mode}`)).toEqual(expected);
  await page.close();
});

interface SeenItem {
  readonly eventId: number;
  readonly mode: string;
}
