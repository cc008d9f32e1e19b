// What operators read in the console, in a real browser against the real trio: daily budgets, webhooks, the load, and runs that were held or undone.

import { createPawlClient, type PawlClient } from "@pawl/client";
import { readExample } from "@pawl/deploy/sample.ts";
import { openPool } from "@pawl/platform/db/pool";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from "vitest";
import { graph, script } from "../flow/graph.ts";
import { type Receiver, startReceiver } from "../flow/receiver.ts";
import { SINK_EGRESS } from "../flow/sink.ts";
import { storyOf } from "../flow/story.ts";
import { type Cluster, startCluster } from "../support/cluster.ts";
import { buildConsole } from "./built-console.ts";
import { launchChromium, shoot } from "./chromium.ts";
import { openConsole, waitForEnd } from "./console-page.ts";

/** A phone and a wide page. */
const WIDTHS = [390, 1440];

let cluster: Cluster;
let browser: Browser;
let client: PawlClient;
let receiver: Receiver;
let isDown = true;

beforeAll(async () => {
  await buildConsole();
  receiver = await startReceiver((path, _nth, response) => {
    if (path === "gone") response.statusCode = 410;
    if (path === "down" && isDown) response.statusCode = 503;
    response.end();
  });
  const env = { ...SINK_EGRESS, PAWL_WEBHOOK_RETRY_MS: "3600000", PAWL_STATS_MS: "500" };
  cluster = await startCluster({ env });
  browser = await launchChromium();
  client = createPawlClient({ baseUrl: cluster.url });
  for (const id of ["pay-an-invoice", "order-fulfilment"])
    await client.workflows.apply(readExample(id).text);
});
beforeEach(({ onTestFailed }) => onTestFailed(() => console.error(cluster.logs())));
afterAll(async () => {
  await browser.close();
  await cluster.stop();
  await receiver.stop();
});

async function open(path: string, width: number): Promise<Page> {
  const { page, errors } = await openConsole(browser, cluster.url + path);
  await page.setViewportSize({ width, height: 1000 });
  onTestFinished(async () => {
    await page.close();
    expect(errors).toEqual([]);
  });
  return page;
}

/** Keeps samples of the last hour, one a minute, with a backlog that grows and shrinks, and a gap while no scheduler ran. */
async function keepHistory(): Promise<void> {
  const pool = openPool(cluster.databaseUrl, { max: 1, name: "pawl-browser" });
  await pool.query({
    text: `insert into queue_stats (node_type, taken_at, slots, active, waiting, oldest_ms, median_ms, runs_pending, runs_running)
      select '', date_trunc('minute', now()) - n * interval '1 minute', 256, 40 - abs(30 - n), 40 - abs(30 - n), n * 1000, n * 400, 0, n
      from generate_series(2, 59) n where n not between 12 and 17 on conflict do nothing`,
  });
  await pool.end();
}

/** By how many pixels a page is wider than its window. */
const sideways = (page: Page): Promise<number> =>
  page.evaluate(() => (document.scrollingElement?.scrollWidth ?? 0) - window.innerWidth);

test.each(WIDTHS)(
  "the page of a workflow shows its daily budget with what is used, reserved and left, at %i px (S2.21)",
  async (width) => {
    const workflowId = `daily-${width}`;
    const perDay = { node_executions: 3, cost_usd: 2.5 };
    const budget = { node_executions: 1, cost_usd: 0.5, per_day: perDay };
    await client.workflows.apply({ id: workflowId, ...graph(["start > a"]), budget });
    await storyOf(client, (await client.runs.start(workflowId)).run.runId);
    const page = await open(`/workflows/${workflowId}`, width);
    const card = page.getByRole("region", { name: "Daily budget" });
    const row = card.locator('tr[data-meter="executions"]');
    await row.first().waitFor();
    const cells = await row.first().locator("td span:last-child").allTextContents();
    expect(cells).toEqual([expect.any(String), "node executions", "1", "0", "3"]);
    expect(await card.locator('tr[data-meter="costMicros"]').first().textContent()).toContain(
      "$2.50",
    );
    expect(await card.textContent()).toContain("resets at");
    await shoot(page, `daily-budget-${width}`);
    expect(await sideways(page)).toBe(0);
    await client.workflows.apply({ id: `free-${width}`, ...graph(["start > a"]) });
    await page.goto(`${cluster.url}/workflows/free-${width}`);
    await page.getByRole("region", { name: "Definition" }).waitFor();
    expect(await card.count()).toBe(0);
  },
);

test.each(WIDTHS)(
  "the page of queues shows the newest sample, plots of the past, and a plot of one node type, at %i px (S4.34)",
  async (width) => {
    await client.queues.pause("javascript");
    const { run } = await client.runs.test(graph(["start > a"], { a: script("return 1") }));
    onTestFinished(async () => {
      await client.queues.resume("javascript");
      await storyOf(client, run.runId);
    });
    await keepHistory();
    const page = await open("/queues", width);
    const row = page.locator('[data-queue="javascript"]');
    await expect.poll(async () => (await client.queues.stats()).queues.length).toBeGreaterThan(0);
    await page.reload();
    await row.waitFor();
    expect(await row.locator("td span:last-child").first().textContent()).toBe("javascript");
    const waiting = page.locator('[data-plot="Nodes waiting"] svg');
    expect(await waiting.getAttribute("aria-label")).toMatch(/^Nodes waiting: now 1, at most 40$/);
    expect(await page.locator('[data-pool="gateway reads"]').count()).toBe(1);
    await shoot(page, `queues-${width}`);
    expect(await sideways(page)).toBe(0);
    await row.getByRole("link").click();
    await page.locator('[data-plot="Runs running"]').waitFor({ state: "detached" });
    expect(page.url()).toContain("type=javascript");
    await waiting.waitFor();
    await page.getByRole("link", { name: "7 days" }).click();
    await page.waitForURL(/range=7d/);
    await waiting.waitFor();
    await shoot(page, `queues-one-${width}`);
    const last = await page.getByRole("link", { name: "Queues", exact: true }).boundingBox();
    expect((last?.x ?? 0) + (last?.width ?? 0)).toBeLessThanOrEqual(width);
  },
);

test("a run that was undone offers neither retry nor repair and says why, and one that failed offers both (S2.16)", async () => {
  const lines = [{ sku: "gear", quantity: 1, unit_cents: 500 }];
  const input = { order_id: "A-7", lost: true, lines };
  const { run } = await client.runs.start("order-fulfilment", { input });
  expect((await storyOf(client, run.runId)).status).toBe("failed");
  await expect(client.runs.planRepair(run.runId, {})).rejects.toMatchObject({
    reason: "RUN_NOT_REPAIRABLE",
  });
  const page = await open(`/runs/${run.runId}`, 1440);
  await waitForEnd(page);
  const undone = page.locator("[data-undone]");
  await undone.waitFor();
  expect(await undone.textContent()).toContain("cannot be retried or repaired");
  const buttons = page.getByRole("button", { name: /^(Retry from failed nodes|Repair…)$/ });
  expect(await buttons.count()).toBe(0);
  const failing = graph(["start > a"], { a: script("throw new Error('no luck')") });
  const failed = await client.runs.test(failing);
  await storyOf(client, failed.run.runId);
  await page.goto(`${cluster.url}/runs/${failed.run.runId}`);
  await waitForEnd(page);
  await expect.poll(() => buttons.count()).toBe(2);
});

test("a node that is held before its start has a lane with its wait, which ends when a person releases it (S2.42)", async () => {
  const { run } = await client.runs.start("pay-an-invoice");
  const page = await open(`/runs/${run.runId}?node=pay`, 1440);
  const lane = page.locator('[data-lane="pay"]');
  await lane.waitFor();
  const bars = page.getByRole("region", { name: "Timeline" }).locator("[data-bar] title");
  const ofHold = bars.filter({ hasText: "before its start" });
  await expect.poll(() => ofHold.count()).toBe(1);
  await shoot(page, "held-lane-1440");
  await client.runs.decide(run.runId, "pay", "approve", { comment: "I called the shop" });
  await waitForEnd(page);
  expect(await ofHold.count()).toBe(1);
});

test("on a phone the turns and tool calls of an agent have names that differ (S2.32)", async () => {
  const turns = [
    { calls: [{ name: "add", arguments: { a: 1, b: 2 } }] },
    { calls: [{ name: "add", arguments: { a: 3, b: 4 } }] },
    { text: "{results}" },
  ];
  const tool = {
    ...{ name: "add", description: "Adds", type: "javascript" },
    input_schema: { type: "object" },
    config: { code: "return input.a + input.b" },
  };
  const label = "Ask the scholar about springs and ratchets";
  const config = { model: "offline/script", prompt: JSON.stringify(turns), tools: [tool] };
  const definition = graph(["start > a > end"], { a: { type: "agent", label, config } });
  const { run } = await client.runs.test(definition);
  expect((await storyOf(client, run.runId)).status).toBe("completed");
  const page = await open(`/runs/${run.runId}`, 390);
  await waitForEnd(page);
  const items = page.locator('[data-lane^="a#"] .lane-item');
  await expect.poll(() => items.count()).toBe(5);
  const boxes = await items.evaluateAll((all) =>
    all.map((each) => ({
      text: each.textContent,
      isWhole: each.scrollWidth <= each.clientWidth && each.clientWidth > 0,
    })),
  );
  await page.getByRole("region", { name: "Timeline" }).scrollIntoViewIfNeeded();
  await shoot(page, "agent-turns-390");
  expect(boxes).toEqual(["#1", "#2", "#3", "#4", "#5"].map((text) => ({ text, isWhole: true })));
  expect(await sideways(page)).toBe(0);
});

test.each(WIDTHS)(
  "a person reads why a delivery waits, sends it again, and switches an endpoint off and on, at %i px (S4.6)",
  async (width) => {
    isDown = true;
    const gone = `gone-${width}`;
    await client.webhooks.create(gone, { url: receiver.url("gone"), byReference: true });
    const definition = { id: `calls-${width}`, ...graph(["start > a"]) };
    await client.workflows.apply(definition);
    const start = async (webhook: object) =>
      (await client.runs.start(definition.id, { webhook })).run.runId;
    const runId = await start({ url: receiver.url("down") });
    await storyOf(client, await start({ endpointId: gone }));
    const page = await open(`/runs/${runId}`, width);
    const panel = page.getByRole("region", { name: "Webhooks" });
    const row = panel.locator("tr[data-delivery]");
    await row.filter({ hasText: "answered 503" }).waitFor();
    expect(await row.textContent()).toMatch(/run\.completed.*pending.*1.*Next call at/);
    await row.getByRole("button", { name: "Show calls" }).click();
    await panel.locator(".calls li", { hasText: /^1\. .*HTTP 503/ }).waitFor();
    await panel.scrollIntoViewIfNeeded();
    await shoot(page, `run-webhooks-${width}`);
    expect(await sideways(page)).toBe(0);
    isDown = false;
    await row.getByRole("button", { name: "Call now" }).click();
    await panel.locator('tr[data-state="delivered"]').waitFor();

    await page.goto(`${cluster.url}/webhooks`);
    const endpoint = page.locator(`tr[data-endpoint="${gone}"]`);
    await page.locator(`tr[data-endpoint="${gone}"][data-state="off"]`).waitFor();
    expect(await endpoint.textContent()).toContain("410");
    await shoot(page, `webhooks-${width}`);
    expect(await sideways(page)).toBe(0);
    await endpoint.getByRole("button", { name: "Switch on" }).click();
    await page.locator(`tr[data-endpoint="${gone}"][data-state="on"]`).waitFor();
    expect((await client.webhooks.get(gone)).disabled).toBe(false);
    await endpoint.getByRole("button", { name: "Switch off" }).click();
    await page.locator(`tr[data-endpoint="${gone}"][data-state="off"]`).waitFor();
    await endpoint.getByRole("link", { name: gone }).click();
    const deliveries = page.getByRole("region", { name: "Deliveries" });
    await expect.poll(() => deliveries.locator("tr[data-delivery]").count()).toBe(1);
    expect(await deliveries.locator("h2").textContent()).toBe(`Deliveries to ${gone}`);
    await deliveries.getByLabel("State of the deliveries").selectOption("delivered");
    await deliveries.getByText("No deliveries.").waitFor();
    expect(new URL(page.url()).search).toBe(`?endpoint=${gone}&state=delivered`);
  },
);
