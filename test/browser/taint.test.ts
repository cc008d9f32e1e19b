// Untrusted data in a real browser against the real trio: the example that holds a payment, on a wide page and on a phone.

import { createPawlClient } from "@pawl/client";
import type { PawlClient } from "@pawl/client";
import { readExample } from "@pawl/deploy/sample.ts";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from "vitest";
import { startCluster } from "../support/cluster.ts";
import type { Cluster } from "../support/cluster.ts";
import { buildConsole } from "./built-console.ts";
import { launchChromium, shoot } from "./chromium.ts";
import { openConsole, waitForEnd } from "./console-page.ts";

/** The graph's code loads lazily and draws in a step of its own, after the rest of the page. */
const DRAWN = { timeout: 30_000 };

let cluster: Cluster;
let browser: Browser;
let client: PawlClient;

beforeAll(async () => {
  await buildConsole();
  cluster = await startCluster({});
  browser = await launchChromium();
  client = createPawlClient({ baseUrl: cluster.url });
  await client.workflows.apply(readExample("pay-an-invoice").text);
});
beforeEach(({ onTestFailed }) => {
  onTestFailed(() => console.error(cluster.logs()));
});
afterAll(async () => {
  await browser.close();
  await cluster.stop();
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

test.each([1440, 390])(
  "labelled edges have a sign, nodes their labels, and the graph a legend at %i pixels, the drawer has the path, and a release needs a reason (S2.42)",
  async (width) => {
    const { run } = await client.runs.start("pay-an-invoice");
    const page = await open(`/runs/${run.runId}?node=pay`, width);
    const drawer = page.locator('[data-node-drawer="pay"]');
    await drawer.locator('[data-taint="2"]').waitFor(DRAWN);
    await expect.poll(() => drawer.locator(".taint-path li").count(), DRAWN).toBe(4);
    const path = (await drawer.locator(".taint-path").textContent()) ?? "";
    expect(path).toMatch(/mail completed: adds mail.*summary completed: mail; adds model/);
    const approve = drawer.getByRole("button", { name: "Approve" });
    await approve.waitFor();
    expect(await approve.isDisabled()).toBe(true);
    await shoot(page, `taint-drawer-${width}`);
    await drawer.getByLabel("Reason").fill("I called the shop");
    await approve.click();
    await waitForEnd(page);
    await expect.poll(() => drawer.textContent(), DRAWN).toContain("Dropped here: mail, model");
    await page.goto(`${cluster.url}/runs/${run.runId}`);
    await page.locator('.graph-node[data-node="end"]').waitFor(DRAWN);
    await expect.poll(() => page.locator(".edge-tainted").count(), DRAWN).toBe(3);
    const words = await page.locator(".edge-tainted text").allTextContents();
    expect(words).toEqual(["\u25c6", "\u25c6", "\u25c6"]);
    const labels = await page.locator(".graph-node-labels").allTextContents();
    expect(labels.toSorted()).toEqual(["\u25c6 mail", "\u25c6 mail, model", "\u25c6 mail, model"]);
    expect(await page.locator('[data-legend="taint"]').textContent()).toContain("untrusted data");
    const sideways = await page.evaluate(
      () => (document.scrollingElement?.scrollWidth ?? 0) - window.innerWidth,
    );
    expect(sideways).toBe(0);
    await shoot(page, `taint-graph-${width}`);
  },
);
