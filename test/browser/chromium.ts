// A headless Chromium for tests, ended with the test that launched it.

import { mkdir } from "node:fs/promises";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";
import type { Browser, Page } from "playwright-core";
import { chromiumBinary } from "./chromium-binary.ts";

/** Only the page under test may use the network, and Chromium has no sandbox under root. */
const ARGUMENTS = [
  "--no-sandbox",
  "--disable-dev-shm-usage",
  "--disable-gpu",
  "--disable-background-networking",
  "--disable-sync",
  "--disable-component-update",
];

const SHOTS = fileURLToPath(new URL("../../.pawl/screenshots/", import.meta.url));

/** Launches a browser; dispose of it when done. */
export async function launchChromium(): Promise<Browser> {
  const { path, env } = await chromiumBinary();
  return chromium.launch({
    executablePath: path,
    args: ARGUMENTS,
    env: { ...process.env, ...env },
  });
}

/** Keeps a picture of the page in .pawl/screenshots, for people to look at. */
export async function shoot(page: Page, name: string): Promise<void> {
  const path = `${SHOTS}${name}.png`;
  await mkdir(dirname(path), { recursive: true });
  await page.screenshot({ path });
}
