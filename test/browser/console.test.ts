// The console in a real browser against the real trio.

import { readFile } from "node:fs/promises";
import { createPawlClient } from "@pawl/client";
import type { PawlClient } from "@pawl/client";
import type { Browser } from "playwright-core";
import { beforeAll, expect, test } from "vitest";
import { startCluster } from "../support/cluster.ts";
import type { Cluster } from "../support/cluster.ts";
import { until } from "../support/until.ts";
import { buildConsole } from "./built-console.ts";
import { launchChromium, shoot } from "./chromium.ts";
import { openConsole, shownEvents, shownNodes, waitForEnd } from "./console-page.ts";

beforeAll(buildConsole);

/** The graph's code loads lazily and draws in a step of its own, after the rest of the page. */
const DRAWN = { timeout: 30_000 };

const STREAMED = Array.from({ length: 80 }, (_, line) => `line ${line}\n`).join("");

const SLOW_STREAM = {
  id: "slow-stream",
  title: "Stream slowly",
  nodes: [
    { id: "start", type: "start" },
    {
      id: "write",
      type: "text_stream",
      label: "Write",
      config: { text: STREAMED, chunk_chars: 8, interval_ms: 150 },
    },
    { id: "end", type: "end" },
  ],
  edges: [
    { source: "start", target: "write" },
    { source: "write", target: "end" },
  ],
};

interface Scene extends AsyncDisposable {
  readonly cluster: Cluster;
  readonly client: PawlClient;
  readonly browser: Browser;
}

async function setup(definition: string): Promise<Scene> {
  const scene = new AsyncDisposableStack();
  const cluster = scene.use(await startCluster());
  const browser = scene.use(await launchChromium());
  const client = createPawlClient({ baseUrl: cluster.url });
  await client.workflows.create(definition);
  return { cluster, client, browser, [Symbol.asyncDispose]: () => scene.disposeAsync() };
}

/** The whole log as `seq type node`. */
async function loggedEvents(client: PawlClient, runId: string): Promise<string[]> {
  const rows: string[] = [];
  for (let hasMore = true; hasMore;) {
    const page = await client.events.list(runId, { afterEventId: rows.length, pageSize: 1000 });
    rows.push(...page.events.map(({ eventId, type, nodeId }) => `${eventId} ${type} ${nodeId}`));
    ({ hasMore } = page);
  }
  return rows;
}

test("a workflow started with its button runs to its end before the reader's eyes (S1.43, S3.42, S3.43, S3.44)", async () => {
  const example = new URL("../../deploy/examples/order-review.yaml", import.meta.url);
  await using scene = await setup(await readFile(example, "utf8"));
  const { cluster, client, browser } = scene;
  const { page, requested, errors } = await openConsole(browser, cluster.url);

  await page.getByRole("button", { name: "With input…" }).click();
  const input = { customer: "Ada", lines: [{ sku: "ratchet", quantity: 3, unit_price: 250 }] };
  await page.getByRole("textbox", { name: /Input of order-review/ }).fill(JSON.stringify(input));
  await page.getByRole("button", { name: "Start", exact: true }).click();
  await page.waitForURL(/\/runs\/[0-9a-f-]{36}$/);
  const runId = page.url().split("/").at(-1) ?? "";

  await waitForEnd(page);
  await page.locator('.graph-node[data-node="letter"]').click();
  await page.locator('[data-node-drawer="letter"] [data-stream="done"]').waitFor();
  const written = page.locator(".stream");
  expect(await written.textContent()).toContain("Dear Ada,");
  await shoot(page, "trio-order-review");
  await expect
    .poll(() => shownNodes(page), DRAWN)
    .toMatchObject({
      price: "completed",
      letter: "completed",
      cool_off: "completed",
      accept: "skipped",
      end: "completed",
    });
  expect(await shownEvents(page)).toEqual(await loggedEvents(client, runId));

  await page.getByRole("link", { name: "Runs", exact: true }).click();
  const row = page.locator(`[data-run="${runId}"]`);
  await row.locator('[data-status="completed"]').waitFor();
  await shoot(page, "trio-runs");
  expect([...requested]).toEqual([cluster.url]);
  expect(errors).toEqual([]);
});

test("a gateway killed under the page leaves it whole: every event once, the text to the letter (S1.50, S1.51)", async () => {
  await using scene = await setup(JSON.stringify(SLOW_STREAM));
  const { cluster, client, browser } = scene;
  const [gateway] = cluster.gateways;
  if (gateway === undefined) throw new Error("no gateway");
  const { run } = await client.runs.start("slow-stream");
  const { page, errors } = await openConsole(
    browser,
    `${cluster.url}/runs/${run.runId}?node=write`,
  );
  const stream = page.locator(".stream");
  const length = async (): Promise<number> => (await stream.textContent())?.length ?? 0;

  const first = await until(length, { what: "the first streamed text" });
  const seen = await until(async () => (await length()) > first && (await length()), {
    what: "more streamed text",
  });
  expect(seen).toBeLessThan(STREAMED.length);

  await gateway.kill("SIGKILL");
  await page.locator('.connection[data-connection="reconnecting"]').waitFor();
  await shoot(page, "trio-gateway-away");
  await gateway.restart();
  // By now the run may have gone on to its end; either way the page is connected again.
  await page.locator('.connection:not([data-connection="reconnecting"])').waitFor();

  await waitForEnd(page);
  expect(await stream.textContent()).toBe(STREAMED);
  await expect
    .poll(() => shownNodes(page), DRAWN)
    .toEqual({
      start: "completed",
      write: "completed",
      end: "completed",
    });
  expect(await shownEvents(page)).toEqual(await loggedEvents(client, run.runId));
  expect(errors).toEqual([]);
});

test("a run is cancelled from the page, after a question", async () => {
  await using scene = await setup(JSON.stringify(SLOW_STREAM));
  const { cluster, client, browser } = scene;
  const { run } = await client.runs.start("slow-stream");
  const { page } = await openConsole(browser, `${cluster.url}/runs/${run.runId}`);
  await page.getByRole("button", { name: "Cancel run" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("textbox", { name: "Reason" }).fill("changed my mind");
  await dialog.getByRole("button", { name: "Cancel run" }).click();
  await waitForEnd(page);
  expect((await client.runs.get(run.runId)).run.errorMessage).toBe("changed my mind");
  expect(await page.locator(".run-title [data-status]").getAttribute("data-status")).toBe(
    "cancelled",
  );
});
