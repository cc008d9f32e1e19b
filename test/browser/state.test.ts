// The state of a run in a real browser against the real trio: the panel shows it now and after an event, and fits a phone.

import { createPawlClient, type PawlClient } from "@pawl/client";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from "vitest";
import { graph, script } from "../flow/graph.ts";
import { storyOf } from "../flow/story.ts";
import { type Cluster, startCluster } from "../support/cluster.ts";
import { buildConsole } from "./built-console.ts";
import { launchChromium, shoot } from "./chromium.ts";
import { openConsole } from "./console-page.ts";

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

test.each([390, 1440])(
  "the state panel shows the run at its end and after an event, at %i px (S2.1, S2.35)",
  async (width) => {
    const definition = graph(["start > note > end"], {
      note: { ...script("return 'x'.repeat(400)"), write_key: "long_word" },
    });
    const { run } = await client.runs.test(definition, { goal: "sell the house" });
    const { events } = await storyOf(client, run.runId);
    const { page, errors } = await openConsole(browser, `${cluster.url}/runs/${run.runId}`);
    onTestFinished(() => page.close());
    await page.setViewportSize({ width, height: 900 });
    const panel = page.locator("[data-state-panel]");
    await panel.locator("summary").click();
    const fields = panel.locator("[data-state-at]");
    const value = (field: string) => fields.locator("tr", { hasText: field }).locator("td").first();
    await panel.locator(`[data-state-at="${events.length}"]`).waitFor();
    expect(await value("goal").textContent()).toBe("sell the house");
    expect(await value("status").textContent()).toBe("completed");
    expect(await value("memory.long_word").textContent()).toHaveLength(400);
    await shoot(page, `state-${width}`);
    const isWide = await page.evaluate(
      () => document.documentElement.scrollWidth > document.documentElement.clientWidth,
    );
    expect(isWide).toBe(false);
    await panel.getByLabel("After event").fill("1");
    await panel.locator('[data-state-at="1"]').waitFor();
    expect(await value("status").textContent()).toBe("scheduled");
    expect(await fields.getByText("memory.long_word").count()).toBe(0);
    await panel.getByRole("button", { name: "At the end" }).click();
    await panel.locator(`[data-state-at="${events.length}"]`).waitFor();
    expect(errors).toEqual([]);
  },
);
