// The console repairs a finished run: the plan is shown before the button that starts the new run. In a real browser against the real trio.

import { createPawlClient } from "@pawl/client";
import { beforeAll, expect, test } from "vitest";
import { storyOf } from "../flow/story.ts";
import { startCluster } from "../support/cluster.ts";
import { buildConsole } from "./built-console.ts";
import { launchChromium, shoot } from "./chromium.ts";
import { openConsole, waitForEnd } from "./console-page.ts";

beforeAll(buildConsole);

const workflow = (code: string) =>
  JSON.stringify({
    id: "mend",
    nodes: [
      { id: "start", type: "start" },
      { id: "fetch", type: "javascript", config: { code: "return 1" } },
      { id: "report", type: "javascript", config: { code } },
      { id: "end", type: "end" },
    ],
    edges: [
      { source: "start", target: "fetch" },
      { source: "fetch", target: "report" },
      { source: "report", target: "end" },
    ],
  });

test("a failed run is retried from the console: the plan comes first, then the new run, and both name each other (X28)", async () => {
  await using scene = new AsyncDisposableStack();
  const cluster = scene.use(await startCluster());
  const browser = scene.use(await launchChromium());
  const client = createPawlClient({ baseUrl: cluster.url });
  await client.workflows.apply(workflow('throw new Error("broken")'));
  const { run } = await client.runs.start("mend");
  expect((await storyOf(client, run.runId)).status).toBe("failed");
  await client.workflows.apply(workflow("return 2"));

  const { page, errors } = await openConsole(browser, `${cluster.url}/runs/${run.runId}`);
  await page.getByRole("button", { name: "Retry from failed nodes" }).click();
  const dialog = page.getByRole("dialog", { name: "Repair this run" });
  await dialog.locator('tr[data-action="reuse"]', { hasText: "fetch" }).waitFor();
  await dialog.locator('tr[data-action="run"]', { hasText: "report" }).waitFor();
  // Another request needs another plan, so the button that starts is gone until the plan is shown again.
  await dialog.getByLabel("Use the newest version of the workflow").check();
  const start = dialog.getByRole("button", { name: "Start the repaired run" });
  await start.waitFor({ state: "detached" });
  await dialog.getByRole("button", { name: "Show the plan" }).click();
  await dialog.locator('tr[data-action="run"]', { hasText: "its definition changed" }).waitFor();
  await shoot(page, "repair-plan");
  await start.click();

  await page.locator(`[data-run-page]:not([data-run-page="${run.runId}"])`).waitFor();
  await waitForEnd(page);
  await page.locator('.run-title [data-status="completed"]').waitFor();
  await page.getByRole("link", { name: run.runId }).click();
  await page.locator(`[data-run-page="${run.runId}"]`).waitFor();
  const { repairedBy } = (await client.runs.get(run.runId)).run;
  await page.getByRole("link", { name: repairedBy[0] ?? "?" }).waitFor();
  expect(errors).toEqual([]);
});
