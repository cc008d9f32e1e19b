// The console in a real browser against the real trio.

import { readFile } from "node:fs/promises";
import type { ServerResponse } from "node:http";
import { createPawlClient } from "@pawl/client";
import type { PawlClient } from "@pawl/client";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from "vitest";
import { openStream, piece, startModelServer, type ModelServer } from "../flow/model-server.ts";
import { SINK_EGRESS } from "../flow/sink.ts";
import { startCluster } from "../support/cluster.ts";
import type { Cluster } from "../support/cluster.ts";
import { buildConsole } from "./built-console.ts";
import { launchChromium, shoot } from "./chromium.ts";
import { openConsole, shownEvents, shownNodes, waitForEnd } from "./console-page.ts";
import type { ConsolePage } from "./console-page.ts";

/** The graph's code loads lazily and draws in a step of its own, after the rest of the page. */
const DRAWN = { timeout: 30_000 };

const SPOKEN = {
  id: "spoken",
  title: "Say what the test says",
  nodes: [
    { id: "start", type: "start" },
    { id: "write", type: "llm", label: "Write", config: { model: "speaker", prompt: "go on" } },
    { id: "end", type: "end" },
  ],
  edges: [
    { source: "start", target: "write" },
    { source: "write", target: "end" },
  ],
};

let models: ModelServer;
let cluster: Cluster;
let browser: Browser;
let client: PawlClient;
/** The model's answer to the question that comes next. */
let asked = Promise.withResolvers<ServerResponse>();

beforeAll(async () => {
  await buildConsole();
  models = await startModelServer((_, __, response) => asked.resolve(openStream(response)));
  const executor = { ...SINK_EGRESS, PAWL_LLM_PROVIDERS: models.providers };
  cluster = await startCluster({ envOf: { executor } });
  browser = await launchChromium();
  client = createPawlClient({ baseUrl: cluster.url, attempts: 30 });
  const example = new URL("../../deploy/examples/order-review.yaml", import.meta.url);
  await client.workflows.create(await readFile(example, "utf8"));
  await client.workflows.create(JSON.stringify(SPOKEN));
});
beforeEach(({ onTestFailed }) => {
  asked = Promise.withResolvers();
  onTestFailed(() => console.error(cluster.logs()));
});
afterAll(async () => {
  await browser.close();
  await cluster.stop();
  await models.stop();
});

/** A page that is closed with the test. */
async function open(url: string): Promise<ConsolePage> {
  const opened = await openConsole(browser, url);
  onTestFinished(() => opened.page.close());
  return opened;
}

/** Starts a run whose model writes the texts that the test gives it. */
async function startSpeaking(): Promise<{
  readonly runId: string;
  readonly say: (...texts: readonly string[]) => void;
  readonly end: () => void;
}> {
  const { run } = await client.runs.start("spoken");
  const response = await asked.promise;
  return {
    runId: run.runId,
    say: (...texts) => texts.forEach((content) => response.write(piece({ content }))),
    end: () => response.end(`${piece({}, "stop")}data: [DONE]\r\n\r\n`),
  };
}

/** The whole log as `seq type node`. */
async function loggedEvents(runId: string): Promise<string[]> {
  const rows: string[] = [];
  for (let hasMore = true; hasMore;) {
    const page = await client.events.list(runId, { afterEventId: rows.length, pageSize: 1000 });
    rows.push(...page.events.map(({ eventId, type, nodeId }) => `${eventId} ${type} ${nodeId}`));
    ({ hasMore } = page);
  }
  return rows;
}

test("a workflow started with its button runs to its end before the reader's eyes (S1.43, S3.42, S3.43, S3.44)", async () => {
  const { page, requested, errors } = await open(cluster.url);

  const form = page.locator(".start-form", { has: page.locator('[data-start="order-review"]') });
  await form.getByRole("button", { name: "With input…" }).click();
  const input = { customer: "Ada", lines: [{ sku: "ratchet", quantity: 3, unit_price: 250 }] };
  await page.getByRole("textbox", { name: /Input of order-review/ }).fill(JSON.stringify(input));
  await form.getByRole("button", { name: "Start", exact: true }).click();
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
  expect(await shownEvents(page)).toEqual(await loggedEvents(runId));

  await page.getByRole("link", { name: "Runs", exact: true }).click();
  const row = page.locator(`[data-run="${runId}"]`);
  await row.locator('[data-status="completed"]').waitFor();
  await shoot(page, "trio-runs");
  expect([...requested]).toEqual([cluster.url]);
  expect(errors).toEqual([]);
});

test("a gateway killed under the page leaves it whole: every event once, the text to the letter (S1.50, S1.51)", async () => {
  const [gateway] = cluster.gateways;
  if (gateway === undefined) throw new Error("no gateway");
  const { runId, say, end } = await startSpeaking();
  const { page, errors } = await open(`${cluster.url}/runs/${runId}?node=write`);
  const stream = page.locator(".stream");
  const lines = Array.from({ length: 60 }, (_, line) => `line ${line}\n`);

  say(...lines.slice(0, 10));
  await expect.poll(() => stream.textContent(), DRAWN).toBe(lines.slice(0, 10).join(""));
  say(...lines.slice(10, 20));
  await expect.poll(() => stream.textContent(), DRAWN).toBe(lines.slice(0, 20).join(""));

  await gateway.kill("SIGKILL");
  await page.locator('.connection[data-connection="reconnecting"]').waitFor();
  await shoot(page, "trio-gateway-away");
  say(...lines.slice(20, 40));
  await gateway.restart();
  await page.locator('[data-run-page]:not([data-connection="reconnecting"])').waitFor();
  say(...lines.slice(40));
  end();

  await waitForEnd(page);
  expect(await stream.textContent()).toBe(lines.join(""));
  await expect
    .poll(() => shownNodes(page), DRAWN)
    .toEqual({
      start: "completed",
      write: "completed",
      end: "completed",
    });
  expect(await shownEvents(page)).toEqual(await loggedEvents(runId));
  expect(errors).toEqual([]);
});

test("a run is cancelled from the page, after a question", async () => {
  const { runId } = await startSpeaking();
  const { page } = await open(`${cluster.url}/runs/${runId}`);
  await page.getByRole("button", { name: "Cancel run" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("textbox", { name: "Reason" }).fill("changed my mind");
  await dialog.getByRole("button", { name: "Cancel run" }).click();
  await waitForEnd(page);
  expect((await client.runs.get(runId)).run.errorMessage).toBe("changed my mind");
  await page.locator('.run-title [data-status="cancelled"]').waitFor();
});
