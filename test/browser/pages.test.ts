// The console in a real browser against a scripted gateway: the views and actions for which the trio would only be slower.

import type { Browser } from "playwright-core";
import { beforeAll, expect, test } from "vitest";
import { buildConsole } from "./built-console.ts";
import { launchChromium, shoot } from "./chromium.ts";
import { openConsole, shownEvents, shownNodes, waitForEnd } from "./console-page.ts";
import { ScriptedGateway } from "./scripted-gateway.ts";
import { LETTER, storyScript, tellBeginning, tellEnd } from "./scripted-story.ts";

beforeAll(buildConsole);

/** The graph's code loads lazily and draws in a step of its own, after the rest of the page. */
const DRAWN = { timeout: 30_000 };

interface Scene extends AsyncDisposable {
  readonly browser: Browser;
  readonly gateway: ScriptedGateway;
  readonly startMs: number;
  readonly runId: string;
}

async function setup(): Promise<Scene> {
  const scene = new AsyncDisposableStack();
  const startMs = Date.now() - 3_300;
  const script = storyScript(startMs);
  const gateway = scene.use(new ScriptedGateway(script));
  await gateway.start();
  const browser = scene.use(await launchChromium());
  const { runId } = script.run;
  return { browser, gateway, startMs, runId, [Symbol.asyncDispose]: () => scene.disposeAsync() };
}

test("text arrives in the drawer piece by piece while the graph moves (S1.43)", async () => {
  await using scene = await setup();
  const { browser, gateway, startMs, runId } = scene;
  tellBeginning(gateway, startMs);
  const { page, errors } = await openConsole(browser, `${gateway.url}/runs/${runId}?node=draft`);
  const stream = page.locator('[data-stream="live"]');
  await stream.waitFor();
  await expect.poll(() => stream.textContent(), DRAWN).toBe(LETTER.slice(0, 4).join(""));
  await expect
    .poll(() => shownNodes(page), DRAWN)
    .toMatchObject({
      draft: "running",
      send: "pending",
      apology: "skipped",
    });
  await shoot(page, "run-live");
  tellEnd(gateway, startMs);
  await waitForEnd(page);
  expect(await page.locator(".stream").textContent()).toBe(LETTER.join(""));
  await expect
    .poll(() => shownNodes(page), DRAWN)
    .toMatchObject({ draft: "completed", send: "completed" });
  expect((await shownEvents(page)).map((row) => Number.parseInt(row, 10))).toEqual(
    Array.from({ length: 37 }, (_, index) => index + 1),
  );
  expect(errors).toEqual([]);
});

test("the list of runs is worked with the keyboard alone", async () => {
  await using scene = await setup();
  const { browser, gateway, runId } = scene;
  const { page } = await openConsole(browser, gateway.url);
  await page.locator(".run-row").first().waitFor();
  await page.keyboard.press("/");
  await page.locator('[type="search"]:focus').waitFor();
  await page.keyboard.press("Escape");
  await page.keyboard.press("j");
  await page.keyboard.press("j");
  await page.keyboard.press("k");
  await page.locator(`[data-chosen][data-run="${runId}"]`).waitFor();
  await page.keyboard.press("Enter");
  await page.waitForURL(`${gateway.url}/runs/${runId}`);
});

test("filters stay in the address, and an unknown run says what to do next", async () => {
  await using scene = await setup();
  const { browser, gateway } = scene;
  const { page } = await openConsole(browser, gateway.url);
  await page.getByRole("link", { name: "Failed" }).click();
  await page.waitForURL(`${gateway.url}/?status=failed`);
  await page.locator('.chip[aria-current="page"]', { hasText: "Failed" }).waitFor();
  await page.goto(`${gateway.url}/runs/nothing`);
  const fault = page.getByRole("alert");
  await fault.waitFor();
  expect(await fault.getAttribute("data-reason")).toBe("RUN_NOT_FOUND");
  expect(await fault.textContent()).toContain("Check the id");
});

/** One white pixel. */
const PIXEL =
  "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGP6DwABBQECz6AuzQAAAABJRU5ErkJggg==";

test("a streamed picture is drawn, an address is a link, a script is neither, and the browser asks no other server (S1.42)", async () => {
  await using scene = await setup();
  const { browser, gateway, startMs, runId } = scene;
  tellBeginning(gateway, startMs);
  const urls = [PIXEL, "https://example.com/a.png", "javascript:alert(1)"];
  urls.forEach((url, index) =>
    gateway.append(startMs + 3_100, {
      type: "node.stream.delta",
      nodeId: "draft",
      attempt: 1,
      epoch: 29n,
      fact: {
        case: "nodeStreamDelta",
        value: { deltaIndex: 4 + index, text: "", media: { url, mime: "image/png" } },
      },
    }),
  );
  const address = `${gateway.url}/runs/${runId}?node=draft`;
  const { page, requested, errors } = await openConsole(browser, address);
  const media = page.locator(".media");
  await media.waitFor();
  expect(await media.locator("img").getAttribute("src")).toBe(PIXEL);
  const links = await media.locator("a").evaluateAll((all) => all.map(String));
  expect(links).toEqual(["https://example.com/a.png"]);
  await media.getByText("not shown").waitFor();
  expect([...requested].filter((origin) => origin !== "null")).toEqual([gateway.url]);
  expect(errors).toEqual([]);
});
