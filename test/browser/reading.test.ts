// The console as a reader uses it, in a real browser against the real trio: the page at every width, the search, a failed run, a handled
// failure, a wide fan, a delay, and addresses that lead nowhere.

import { createPawlClient } from "@pawl/client";
import type { PawlClient } from "@pawl/client";
import type { Browser, Locator, Page } from "playwright-core";
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from "vitest";
import { startCluster } from "../support/cluster.ts";
import type { Cluster } from "../support/cluster.ts";
import { buildConsole } from "./built-console.ts";
import { launchChromium, shoot } from "./chromium.ts";
import { openConsole, shownNodes, waitForEnd } from "./console-page.ts";
import { BROKEN, DELAYED, FAN, HANDLED } from "./reading-workflows.ts";

/** The graph's code loads lazily and draws in a step of its own, after the rest of the page. */
const DRAWN = { timeout: 30_000 };
const WIDTHS = { phone: 390, tablet: 1024 } as const;

let cluster: Cluster;
let browser: Browser;
let client: PawlClient;

beforeAll(async () => {
  await buildConsole();
  cluster = await startCluster({});
  browser = await launchChromium();
  client = createPawlClient({ baseUrl: cluster.url });
  for (const workflow of [BROKEN, HANDLED, FAN, DELAYED])
    await client.workflows.create(JSON.stringify(workflow));
});
beforeEach(({ onTestFailed }) => {
  onTestFailed(() => console.error(cluster.logs()));
});
afterAll(async () => {
  await browser.close();
  await cluster.stop();
});

async function open(path: string, width = 1440): Promise<Page> {
  const { page, errors } = await openConsole(browser, cluster.url + path);
  await page.setViewportSize({ width, height: 844 });
  onTestFinished(async () => {
    await page.close();
    expect(errors).toEqual([]);
  });
  return page;
}

const startRun = async (workflowId: string): Promise<string> =>
  (await client.runs.start(workflowId)).run.runId;

async function ended(workflowId: string): Promise<string> {
  const runId = await startRun(workflowId);
  await client.runs.wait(runId);
  return runId;
}

/** How far the page reaches beyond its window, sideways. */
const overflow = (page: Page): Promise<number> =>
  page.evaluate(() => (document.scrollingElement?.scrollWidth ?? 0) - window.innerWidth);

async function box(locator: Locator) {
  const found = await locator.boundingBox();
  if (found === null) throw new Error("nothing is drawn there");
  return found;
}

test("no page scrolls sideways on a phone, and the graph runs down in letters that can be read", async () => {
  const runId = await ended("broken-import-of-all-customers");
  const pages = [
    ["/", ".run-row"],
    ["/workflows", ".workflows"],
    ["/approvals", ".list .empty, .inbox"],
    [`/runs/${runId}`, ".graph-node"],
    [`/runs/${runId}?node=parse`, ".drawer"],
    ["/workflows/broken-import-of-all-customers", ".graph-node"],
    ["/workflows/wide-fan", ".graph-node"],
    ["/nowhere", "[data-lost]"],
    ["/runs/123", ".fault"],
  ] as const;
  for (const [path, shown] of pages) {
    const page = await open(path, WIDTHS.phone);
    await page.locator(shown).first().waitFor(DRAWN);
    expect([path, await overflow(page)]).toEqual([path, 0]);
    await shoot(page, `phone${path.replaceAll(/[^a-z]+/g, "-").slice(0, 30)}`);
  }
  const page = await open(`/runs/${runId}`, WIDTHS.phone);
  const node = (id: string): Locator => page.locator(`.graph-node[data-node="${id}"]`);
  await node("end").waitFor(DRAWN);
  await expect
    .poll(async () => (await box(node("parse"))).y - (await box(node("fetch"))).y, DRAWN)
    .toBeGreaterThan(40);
  expect((await box(node("parse"))).width).toBeGreaterThan(150);
});

test("at 1024 pixels nothing lies on the table of runs, and a workflow is started from a dialog", async () => {
  await ended("broken-import-of-all-customers");
  const page = await open("/", WIDTHS.tablet);
  await page.locator(".run-row").first().waitFor();
  await page.locator('[data-start="handled"]').waitFor({ state: "attached" });
  expect(await overflow(page)).toBe(0);
  const table = await box(page.locator("table.runs"));
  expect(table.x + table.width).toBeLessThanOrEqual(WIDTHS.tablet);
  // The pointer would hit any element that covers the table.
  const covered = await page.evaluate(
    () =>
      [...document.querySelectorAll("table.runs td, table.runs th")].filter((cell) => {
        const { left, top, right, bottom } = cell.getBoundingClientRect();
        if (bottom > window.innerHeight) return false;
        const met = document.elementFromPoint((left + right) / 2, (top + bottom) / 2);
        return met === null || met.closest("table.runs") === null;
      }).length,
  );
  expect(covered).toBe(0);
  await page.getByRole("button", { name: "Start a workflow" }).click();
  const dialog = page.getByRole("dialog", { name: "Start a workflow" });
  await dialog.locator('[data-start="handled"]').click();
  await page.waitForURL(/\/runs\/[0-9a-f-]{36}$/);
});

test("a search finds by the beginning of workflow id, title and run id, and by the short id in the list", async () => {
  const runId = await ended("handled");
  const other = await ended("broken-import-of-all-customers");
  const page = await open("/");
  const row = (id: string): Locator => page.locator(`[data-run="${id}"]`);
  await row(other).waitFor();
  const shortId = (await row(runId).locator(".run-id").textContent()) ?? "";
  expect(shortId).toMatch(/^[0-9a-f]{8}$/);
  const search = page.getByRole("searchbox", { name: /Search/ });
  for (const text of ["hand", shortId, runId.slice(0, 23)]) {
    await search.fill(text);
    await page.waitForURL((url) => url.searchParams.get("q") === text);
    await row(other).waitFor({ state: "detached" });
    await row(runId).waitFor();
  }
  for (const text of ["Import", "winding ro", "broken-"]) {
    await search.fill(text);
    await page.waitForURL((url) => url.searchParams.get("q") === text);
    await row(runId).waitFor({ state: "detached" });
    await row(other).waitFor();
  }
  await search.fill("no such thing");
  await page.locator("[data-no-runs]").waitFor();
  await page.reload();
  expect(await search.inputValue()).toBe("no such thing");
});

test("a failed run says at its head which node failed and why; one node is red, and nodes that never ran are not", async () => {
  const runId = await ended("broken-import-of-all-customers");
  const page = await open(`/runs/${runId}`);
  const head = page.locator('[data-failure="parse"]');
  await head.getByRole("button", { name: "Parse" }).waitFor();
  await head.getByText("js_error").waitFor();
  const before = (await box(head)).height;
  expect(before).toBeLessThan(130);
  await head.getByRole("button", { name: "Show all" }).click();
  expect((await box(head)).height).toBeGreaterThan(before);
  await head.getByRole("button", { name: "Copy failure message" }).waitFor();
  await expect
    .poll(() => shownNodes(page), DRAWN)
    .toEqual({
      start: "completed",
      fetch: "completed",
      parse: "failed",
      after: "not_run",
      end: "not_run",
    });
  expect(await page.locator(".graph-node.is-failed").count()).toBe(1);
  const logged = page.locator('.event[data-type="node.failed"] .event-type');
  expect(await logged.evaluateAll((rows) => rows.map((row) => row.className))).toEqual([
    "event-type is-failed",
    "event-type is-not_run",
    "event-type is-not_run",
  ]);
  expect(await page.locator(".connection").count()).toBe(0);
  await page.locator('.graph-node[data-node="end"]').click();
  await page
    .locator('[data-note="not_run"]', { hasText: "Not run, because Parse failed." })
    .waitFor();
  await shoot(page, "run-failed");
  await page.goto(`${cluster.url}/?q=${encodeURIComponent('failure_class = "retriable"')}`);
  await page.locator('.run-note [data-failure-class="retriable"]').first().waitFor();
});

test("a failure that was handled has a look of its own, and the run says so", async () => {
  const page = await open(`/runs/${await ended("handled")}`);
  await waitForEnd(page);
  await page.locator(".run-title").getByText("failures handled").waitFor();
  await expect
    .poll(() => shownNodes(page), DRAWN)
    .toMatchObject({ call: "handled", desk: "completed" });
  await page.locator('.graph-node[data-node="call"]').getByText("failed, handled").waitFor();
  expect(await page.locator(".graph-node.is-failed, .run-failure").count()).toBe(0);
  expect(await page.locator('[data-bar="handled"]').count()).toBe(1);
  await page.goto(`${cluster.url}/?q=handled`);
  await page.locator(".run-note", { hasText: "failures handled" }).first().waitFor();
});

test("a fan of two hundred is one group beside its failure, listed and searched", async () => {
  const page = await open(`/runs/${await ended("wide-fan")}`);
  await waitForEnd(page);
  await expect
    .poll(() => shownNodes(page), DRAWN)
    .toEqual({
      start: "completed",
      "group:shop-1": "completed",
      "shop-147": "failed",
      sum: "not_run",
      end: "not_run",
    });
  const group = page.locator('.graph-node[data-node="group:shop-1"]');
  await group.getByText("199 × javascript").waitFor();
  await group.locator('[data-tally="completed"]', { hasText: "199" }).waitFor();
  await expect.poll(async () => (await box(group)).width, DRAWN).toBeGreaterThan(120);
  await page.locator(".lane-names li").first().getByText("shop-147").waitFor();

  const find = page.getByRole("searchbox", { name: "Find a node" });
  await find.fill("shop-200");
  const found = page.locator('.graph-node.is-found[data-node="shop-200"]');
  await found.waitFor(DRAWN);
  await page.locator('[data-found="1"]').waitFor();
  await find.press("Enter");
  await page.locator('[data-node-drawer="shop-200"]').waitFor();
  await shoot(page, "fan-found");
  await page.keyboard.press("Escape");
  await find.fill("");

  await group.click();
  const drawer = page.locator("[data-group-drawer]");
  await drawer.getByRole("searchbox").fill("shop-42");
  await drawer.locator('[data-member="shop-42"]').click();
  await page.locator('[data-node-drawer="shop-42"]').waitFor();
  await page.locator('.graph-node[data-node="shop-42"]').waitFor();
});

test("a delay is the node that waits, in graph, timeline and drawer, and counts down", async () => {
  const runId = await startRun("delayed");
  onTestFinished(async () => void (await client.runs.cancel(runId)));
  const page = await open(`/runs/${runId}?node=rest`);
  await expect
    .poll(() => shownNodes(page), DRAWN)
    .toEqual({ start: "completed", rest: "waiting", end: "pending" });
  const node = page.locator('.graph-node[data-node="rest"]');
  await node.getByText("delay · waiting 59 m").waitFor();
  await page.locator('[data-lane="rest"] .is-waiting').waitFor();
  await page.locator('[data-bar="delayed"]').waitFor();
  const drawer = page.locator('[data-node-drawer="rest"]');
  const note = drawer.locator('[data-note="delay"]', {
    hasText: "Holds back the next nodes for 59 m",
  });
  await note.waitFor();
  expect(await drawer.locator('[data-status="waiting"]').count()).toBe(1);
  const first = await note.textContent();
  await expect.poll(() => note.textContent(), DRAWN).not.toBe(first);
  await page
    .locator("[data-waiting]", { hasText: "Let it rest holds back the next nodes" })
    .waitFor();
});

test("an address that leads nowhere is a page with status 404, and JSON to who asks for it", async () => {
  const page = await open("/");
  const answer = await page.goto(`${cluster.url}/nowhere/at/all`);
  expect(answer?.status()).toBe(404);
  await page.getByRole("heading", { name: "Nothing is here" }).waitFor();
  await page.getByRole("link", { name: "the runs" }).click();
  await page.waitForURL(`${cluster.url}/`);
  const other = await fetch(`${cluster.url}/nowhere/at/all`);
  expect([other.status, other.headers.get("content-type")]).toEqual([404, "application/json"]);
});

test("an id of no run says so, once", async () => {
  const page = await open("/runs/123");
  const fault = page.getByRole("alert");
  await fault.getByText("There is no run 123.").waitFor();
  expect((await fault.textContent())?.match(/123/g)).toHaveLength(1);
});

test("graph and log work with the keyboard, and the focus is visible", async () => {
  const page = await open(`/runs/${await ended("handled")}`);
  await waitForEnd(page);
  const node = page.getByRole("button", { name: /^call javascript · failed, handled/ });
  await node.focus();
  await page.keyboard.press("Shift+Tab");
  await page.keyboard.press("Tab");
  const outline = await node
    .locator(".graph-node")
    .evaluate((at) => getComputedStyle(at).outlineStyle);
  expect(outline).toBe("solid");
  await page.keyboard.press("Enter");
  await page.locator('[data-node-drawer="call"]').waitFor();
  await page.getByRole("button", { name: "Event 1, run.started" }).press("Enter");
  await page.locator(".event-detail").waitFor();
});
