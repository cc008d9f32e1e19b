// Waits of runs in a real browser against the real trio: for a signal, with the form made from the schema of its payload, and for a budget.

import { createPawlClient, type PawlClient } from "@pawl/client";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from "vitest";
import { graph } from "../flow/graph.ts";
import { firstEvent } from "../flow/story.ts";
import { type Cluster, startCluster } from "../support/cluster.ts";
import { buildConsole } from "./built-console.ts";
import { launchChromium } from "./chromium.ts";
import { openConsole, waitForEnd } from "./console-page.ts";

const WAITING = {
  nodes: [
    { id: "start", type: "start" },
    {
      id: "paid",
      type: "await_signal",
      config: {
        name: "payment",
        timeout_ms: 3_600_000,
        schema: {
          type: "object",
          required: ["amount"],
          properties: { amount: { type: "number", minimum: 1 } },
        },
      },
    },
    { id: "end", type: "end" },
  ],
  edges: [
    { source: "start", target: "paid" },
    { source: "paid", target: "end" },
  ],
};

let cluster: Cluster;
let browser: Browser;
let client: PawlClient;

beforeAll(async () => {
  await buildConsole();
  cluster = await startCluster({});
  browser = await launchChromium();
  client = createPawlClient({ baseUrl: cluster.url });
});
beforeEach(({ onTestFailed }) => {
  onTestFailed(() => console.error(cluster.logs()));
});
afterAll(async () => {
  await browser.close();
  await cluster.stop();
});

test("a run shows the signal that it waits for, and a person sends it by the form of the node (S2.17, S2.19)", async () => {
  const { run } = await client.runs.test(WAITING);
  await firstEvent(client, run.runId, ({ type }) => type === "node.blocked");
  const { page, errors } = await openConsole(browser, `${cluster.url}/runs/${run.runId}`);
  onTestFinished(() => page.close());
  const banner = page.locator("[data-waiting]");
  await banner.getByText("Waiting for a signal: payment").waitFor();
  await banner.getByRole("button", { name: "Send" }).click();
  const form = page.locator('[data-signal="payment"]');
  await form.getByText(/Waits for .+ more\./).waitFor();
  expect(await page.getByRole("button", { name: "Approve" }).count()).toBe(0);
  await form.getByLabel("amount").fill("0");
  await form.getByRole("button", { name: "Send signal" }).click();
  await form.getByText("Must be at least 1.").waitFor();
  await form.getByLabel("amount").fill("480");
  await form.getByRole("button", { name: "Send signal" }).click();
  await waitForEnd(page);
  const { run: ended } = await client.runs.get(run.runId);
  expect(new TextDecoder().decode(ended.outputJson)).toContain('"payload":{"amount":480}');
  expect(errors).toEqual([]);
});

test("a run that pauses for its budget shows what is used and continues with a top-up of the console (S2.21)", async () => {
  const budget = { node_executions: 1, on_exceeded: "pause" };
  const definition = { ...graph(["start > a > b"]), budget };
  const { run } = await client.runs.test(JSON.stringify(definition));
  const { page, errors } = await openConsole(browser, `${cluster.url}/runs/${run.runId}`);
  onTestFinished(() => page.close());
  await page.getByText("1 of 1 node execution").waitFor();
  await page.getByRole("button", { name: "Top up" }).click();
  const dialog = page.getByRole("dialog", { name: "Top up the budget?" });
  expect(await dialog.getByRole("spinbutton").count()).toBe(1);
  await dialog.getByLabel("Node executions").fill("2");
  await dialog.getByRole("button", { name: "Top up" }).click();
  await waitForEnd(page);
  await page.getByText("2 of 3 node executions").waitFor();
  expect(errors).toEqual([]);
});
