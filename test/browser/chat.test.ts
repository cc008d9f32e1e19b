// A chat with an agent over one thread, by a user of the console and by a Python program: five turns, of which the third is interrupted and
// the fourth is rolled back. Both leave the same history.

import { fileURLToPath } from "node:url";
import { createPawlClient, jsonOf, type PawlClient } from "@pawl/client";
import { readExample } from "@pawl/deploy/sample.ts";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { run } from "../support/go.ts";
import { pythonOrSkip } from "../support/python.ts";
import { sourceEnv } from "../support/python-source.ts";
import { type Cluster, startCluster } from "../support/cluster.ts";
import { checkInvariants } from "../support/invariants.ts";
import { buildConsole } from "./built-console.ts";
import { launchChromium, shoot } from "./chromium.ts";
import { openConsole } from "./console-page.ts";

const PROGRAM = fileURLToPath(new URL("../python/chat.py", import.meta.url));
/** So many words that the answer takes minutes: such a turn ends only because a user stops it. */
const LONG = `Tell me ${"more and ".repeat(2_000)}more.`;
const TURNS = ["Where is my parcel?", "It is red.", LONG, LONG, "Thank you."];
const answerTo = (said: string, messages: number): string =>
  `You said: ${said} So far: ["${messages} messages"]`;
/** What the thread remembers: of the third turn only the question, of the fourth nothing. */
const HISTORY = [
  { role: "user", text: TURNS[0] },
  { role: "clerk", text: answerTo("Where is my parcel?", 1) },
  { role: "user", text: TURNS[1] },
  { role: "clerk", text: answerTo("It is red.", 3) },
  { role: "user", text: LONG },
  { role: "user", text: TURNS[4] },
  { role: "clerk", text: answerTo("Thank you.", 6) },
];
const ENDS = [
  ["completed", null],
  ["completed", null],
  ["cancelled", "interrupt"],
  ["cancelled", "rollback"],
  ["completed", null],
];

let cluster: Cluster;
let client: PawlClient;

beforeAll(async () => {
  await buildConsole();
  cluster = await startCluster();
  client = createPawlClient({ baseUrl: cluster.url });
  await client.workflows.apply(readExample("chat").text);
});
beforeEach(({ onTestFailed }) => onTestFailed(() => console.error(cluster.logs())));
afterAll(async () => {
  expect(await checkInvariants(cluster.databaseUrl)).toEqual([]);
  await cluster.stop();
});

const memoryOf = async (threadId: string): Promise<unknown> =>
  jsonOf((await client.threads.state(threadId)).memoryJson);

const turnsOf = (page: Page) => page.locator("[data-turn]");

/** Writes the next turn in the console. */
async function say(page: Page, words: string): Promise<void> {
  await page.getByLabel("What to say").fill(words);
  await page.getByRole("button", { name: "Send" }).click();
}

async function openThread(browser: Browser): Promise<Page> {
  const { page, errors } = await openConsole(browser, `${cluster.url}/threads`);
  page.on("close", () => expect(errors).toEqual([]));
  await page.getByLabel("Id of the new thread").fill("desk");
  await page.getByRole("button", { name: "New thread" }).click();
  await page.getByLabel("What to say").waitFor();
  return page;
}

test("in the console an agent answers five turns on a thread, of which one is interrupted and one rolled back (S4.27, S4.28, S4.41)", async () => {
  await using browser = await launchChromium();
  const page = await openThread(browser);
  const state = page.locator(".thread-head .state-word");
  for (const [at, words] of TURNS.entries()) {
    await say(page, words);
    const turn = turnsOf(page).nth(at);
    if (words !== LONG) {
      await turn.and(page.locator('[data-status="completed"]')).waitFor();
      continue;
    }
    // The answer streams before the user stops it.
    await turn.locator('[data-live="true"]', { hasText: "You said: Tell me" }).waitFor();
    if (at === 2) {
      await shoot(page, "chat-live-1360");
      await turn.getByRole("button", { name: "Interrupt" }).click();
      await turn.and(page.locator('[data-stop="interrupt"]')).waitFor();
      await expect.poll(() => state.textContent()).toBe("interrupted");
    } else {
      await turn.getByRole("button", { name: "Roll back" }).click();
      await turn.and(page.locator('[data-stop="rollback"]')).waitFor();
    }
  }
  const ends = await turnsOf(page).evaluateAll((rows) =>
    rows.map((row) => [row.getAttribute("data-status"), row.getAttribute("data-stop")]),
  );
  expect(ends).toEqual(ENDS);
  expect(await memoryOf("desk")).toEqual({ messages: HISTORY });
  // A stopped turn keeps the text that its model had written.
  expect(await turnsOf(page).nth(2).locator(".turn-answered").textContent()).toMatch(
    /You said: Tell me/,
  );
  await page.locator(".thread-memory summary").click();
  expect(await page.locator(".thread-memory pre").textContent()).toContain("So far:");
  for (const width of [390, 1440]) {
    await page.setViewportSize({ width, height: 1000 });
    await shoot(page, `chat-${width}`);
    const sideways = await page.evaluate(
      () => (document.scrollingElement?.scrollWidth ?? 0) - window.innerWidth,
    );
    expect(sideways).toBe(0);
    const links = await page
      .locator(".top nav a")
      .evaluateAll((all) => all.map((each) => each.getBoundingClientRect().right));
    expect(Math.max(...links)).toBeLessThanOrEqual(width);
  }
  await page.getByRole("button", { name: "Fork" }).click();
  await page.getByText("forked from").waitFor();
  await page.close();
});

test("a Python program has the same chat over a thread, and leaves the same history (S4.27, S4.28, S4.41)", async (context) => {
  const python = await pythonOrSkip(context);
  const output = await run(python, [PROGRAM, cluster.url, LONG], ".", sourceEnv());
  expect(JSON.parse(output)).toEqual({ messages: HISTORY, ends: ENDS });
});
