// Takes pictures of every page of the console against a scripted gateway: node test/browser/look.ts

import { launchChromium, shoot } from "./chromium.ts";
import { ScriptedGateway } from "./scripted-gateway.ts";
import { storyScript, tellBeginning, tellEnd } from "./scripted-story.ts";

const startMs = Date.now() - 3_300;
const script = storyScript(startMs);
await using gateway = new ScriptedGateway(script);
await gateway.start();
await using browser = await launchChromium();
for (const colorScheme of ["light", "dark"] as const) {
  const page = await browser.newPage({ viewport: { width: 1360, height: 1180 }, colorScheme });
  page.on("pageerror", (error) => console.error(error));
  page.on("console", (line) => console.log(line.type(), line.text()));
  if (colorScheme === "light") tellBeginning(gateway, startMs);
  await page.goto(`${gateway.url}/runs/${script.run.runId}?node=draft`);
  await page.locator('.graph-node[data-node="send"]').waitFor();
  await page.locator('[data-seq="10"]').waitFor();
  await shoot(page, `run-live-${colorScheme}`);
  if (colorScheme === "light") tellEnd(gateway, startMs);
  await page.goto(`${gateway.url}/runs/${script.run.runId}`);
  await page.locator('[data-connection="ended"]').waitFor();
  await page.locator('.graph-node[data-node="send"]').waitFor();
  await shoot(page, `run-done-${colorScheme}`);
  for (const [name, path] of [
    ["runs", "/"],
    ["workflows", "/workflows"],
    ["workflow", "/workflows/customer-letter"],
    ["lost", "/runs/nothing"],
  ] as const) {
    await page.goto(gateway.url + path);
    await page.locator("main table, .graph-node, .fault").first().waitFor();
    await shoot(page, `${name}-${colorScheme}`);
  }
  await page.close();
}
