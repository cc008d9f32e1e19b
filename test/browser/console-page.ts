// How tests read the console, in the words of the console.

import type { Browser, Page } from "playwright-core";

/** A page that records its requests and its errors. */
export interface ConsolePage {
  readonly page: Page;
  readonly requested: ReadonlySet<string>;
  readonly errors: readonly string[];
}

/** Opens the console at an address. */
export async function openConsole(browser: Browser, url: string): Promise<ConsolePage> {
  const page = await browser.newPage({ viewport: { width: 1360, height: 1180 } });
  const requested = new Set<string>();
  const errors: string[] = [];
  page.on("request", (request) => void requested.add(new URL(request.url()).origin));
  page.on("pageerror", (error) => errors.push(String(error)));
  await page.goto(url);
  return { page, requested, errors };
}

/** The rows of the event log as `seq type node`, in the order shown. */
export const shownEvents = (page: Page): Promise<string[]> =>
  page
    .locator(".event")
    .evaluateAll((rows) =>
      rows.map((row) =>
        ["data-seq", "data-type", "data-node"].map((name) => row.getAttribute(name)).join(" "),
      ),
    );

/** The statuses of the graph's nodes, by id. */
export async function shownNodes(page: Page): Promise<Record<string, string>> {
  const pairs = await page
    .locator(".graph-node")
    .evaluateAll((nodes) =>
      nodes.map((node) => [node.getAttribute("data-node"), node.getAttribute("data-status")]),
    );
  return Object.fromEntries(pairs) as Record<string, string>; // both attributes are always set on a run's page
}

/** Waits until the page says how the run ended. */
export const waitForEnd = (page: Page): Promise<void> =>
  page.locator('[data-run-page][data-connection="ended"]').waitFor();
