// The console where a run waits for a person: a held node with its buttons, a map's progress, the reason in words, a child run and the way
// back. In a real browser against the real trio.

import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createPawlClient } from "@pawl/client";
import type { PawlClient } from "@pawl/client";
import type { Page } from "playwright-core";
import { beforeAll, expect, test } from "vitest";
import { startCluster } from "../support/cluster.ts";
import { temporaryFolder } from "../support/folder.ts";
import { buildConsole } from "./built-console.ts";
import { launchChromium, shoot } from "./chromium.ts";
import { openConsole, shownNodes, waitForEnd } from "./console-page.ts";

beforeAll(buildConsole);

const RULES = "rules: [{ id: fruit, category: food, literal: forbidden fruit }]";

const held = (id: string): object => ({
  id,
  type: "javascript",
  moderation: "output",
  moderation_action: "hold",
  config: { code: 'return "a forbidden fruit"' },
});

const CHILD = {
  id: "child",
  nodes: [{ id: "start", type: "start" }, held("kept")],
  edges: [{ source: "start", target: "kept" }],
};

const PARENT = {
  id: "parent",
  nodes: [
    { id: "start", type: "start" },
    {
      id: "each",
      type: "map",
      config: { items: [1, 2, 3], body: { type: "javascript", config: { code: "return 1" } } },
    },
    held("review"),
    { id: "call", type: "subworkflow", config: { workflow_id: "child" } },
    { id: "end", type: "end" },
  ],
  edges: [
    { source: "start", target: "each" },
    { source: "each", target: "review" },
    { source: "start", target: "call" },
    { source: "review", target: "end" },
    { source: "call", target: "end" },
  ],
};

interface Scene extends AsyncDisposable {
  readonly client: PawlClient;
  readonly page: Page;
  readonly errors: readonly string[];
  readonly runId: string;
  readonly url: string;
}

/** A page on a run of PARENT, with the drawer of `review` open. */
async function setup(): Promise<Scene> {
  const scene = new AsyncDisposableStack();
  const folder = temporaryFolder("rules");
  scene.defer(() => rmSync(folder, { recursive: true }));
  const path = join(folder, "rules.yaml");
  writeFileSync(path, RULES);
  const cluster = scene.use(
    await startCluster({ envOf: { executor: { PAWL_MODERATION_RULES: path } } }),
  );
  const browser = scene.use(await launchChromium());
  const client = createPawlClient({ baseUrl: cluster.url });
  await client.workflows.create(JSON.stringify(CHILD));
  await client.workflows.create(JSON.stringify(PARENT));
  const { run } = await client.runs.start("parent");
  const { runId } = run;
  const { page, errors } = await openConsole(browser, `${cluster.url}/runs/${runId}?node=review`);
  const { url } = cluster;
  return { client, page, errors, runId, url, [Symbol.asyncDispose]: () => scene.disposeAsync() };
}

const headStatus = (page: Page, status: string): Promise<void> =>
  page.locator(`.run-title [data-status="${status}"]`).waitFor();

test("a held node says why it waits and is decided with a button; a child run is a click away and back (S1.16, S3.30, X8)", async () => {
  await using scene = await setup();
  const { page, errors, runId, url } = scene;
  const decide = page.getByRole("region", { name: "Decide" });
  await decide.getByRole("button", { name: "Approve" }).waitFor();
  await headStatus(page, "waiting");
  const why = page.locator('[data-node-drawer="review"] .why');
  await why.getByText("It waits for a person to answer approval").waitFor();
  await decide.getByText("a forbidden fruit").waitFor();
  await page.locator('.graph-node[data-node="each"]').getByText("3/3").waitFor();
  await shoot(page, "people-held");

  await decide.getByRole("textbox", { name: "Comment" }).fill("a quotation");
  await decide.getByRole("button", { name: "Approve" }).click();
  await page.locator('.graph-node[data-node="review"][data-status="completed"]').waitFor();
  await decide.waitFor({ state: "detached" });

  await page.locator('.graph-node[data-node="call"]').click();
  expect(
    await page
      .locator('[data-node-drawer="call"]')
      .getByRole("button", { name: "Approve" })
      .count(),
  ).toBe(0);
  await page.getByRole("link", { name: "child run" }).click();
  await page.locator(`[data-run-page]:not([data-run-page="${runId}"])`).waitFor();
  await page.locator('.graph-node[data-node="kept"]').click();
  await shoot(page, "people-child");
  await decide.getByRole("button", { name: "Reject" }).click();
  await waitForEnd(page);
  await headStatus(page, "failed");

  await page.getByRole("link", { name: "call", exact: true }).click();
  await page.waitForURL(`${url}/runs/${runId}?node=call`);
  await waitForEnd(page);
  await expect
    .poll(() => shownNodes(page), { timeout: 30_000 })
    .toMatchObject({ review: "completed", call: "failed", each: "completed" });
  const { events } = await scene.client.events.list(runId, { pageSize: 1000 });
  const decided = events.flatMap(({ fact }) => (fact.case === "nodeDecided" ? [fact.value] : []));
  expect(decided.map(({ comment }) => comment)).toEqual(["a quotation"]);
  expect(errors).toEqual([]);
});
