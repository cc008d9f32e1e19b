// Questions to people in a real browser against the real trio: the question, the form made from the schema of the response, and the person
// who answered.

import { readFile } from "node:fs/promises";
import { createPawlClient } from "@pawl/client";
import type { PawlClient } from "@pawl/client";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from "vitest";
import { startCluster } from "../support/cluster.ts";
import type { Cluster } from "../support/cluster.ts";
import { buildConsole } from "./built-console.ts";
import { launchChromium, shoot } from "./chromium.ts";
import { openConsole, waitForEnd } from "./console-page.ts";

/** Every kind of field, and rules of which the page knows nothing. */
const SHAPES = {
  id: "shapes",
  nodes: [
    { id: "start", type: "start" },
    {
      id: "ask",
      type: "approval",
      config: {
        message: "How shall it be sent?",
        response_schema: {
          type: "object",
          required: ["code", "size", "insured"],
          properties: {
            code: { type: "string", pattern: "^[A-Z]{3}$", description: "Three capital letters" },
            size: { enum: ["s", "m", "l", "xl", "xxl", "huge"], default: "m" },
            insured: { type: "boolean" },
            extras: { type: "array", items: { enum: ["gift", "card"] } },
            to: {
              type: "object",
              required: ["street"],
              properties: { street: { type: "string", minLength: 1 }, floor: { type: "integer" } },
            },
            day: { type: "string", format: "date" },
            raw: { type: "array", items: { type: "number" } },
          },
        },
      },
    },
    { id: "end", type: "end" },
  ],
  edges: [
    { source: "start", target: "ask" },
    { source: "ask", target: "end" },
  ],
};

let cluster: Cluster;
let browser: Browser;
let client: PawlClient;

beforeAll(async () => {
  await buildConsole();
  cluster = await startCluster({});
  browser = await launchChromium();
  client = createPawlClient({ baseUrl: cluster.url });
  const refund = new URL("../../deploy/examples/refund-with-approval.yaml", import.meta.url);
  await client.workflows.create(await readFile(refund, "utf8"));
  await client.workflows.create(JSON.stringify(SHAPES));
});
beforeEach(({ onTestFailed }) => {
  onTestFailed(() => console.error(cluster.logs()));
});
afterAll(async () => {
  await browser.close();
  await cluster.stop();
});

async function open(path: string): Promise<{ page: Page; errors: readonly string[] }> {
  const { page, errors } = await openConsole(browser, cluster.url + path);
  onTestFinished(() => page.close());
  return { page, errors };
}

/** The answers in the log of a run: decision, person and response. */
async function answers(runId: string): Promise<unknown[]> {
  const { events } = await client.events.list(runId, { pageSize: 1000 });
  return events.flatMap(({ fact }) =>
    fact.case === "nodeDecided"
      ? [
          [
            fact.value.decision,
            fact.value.decidedBy,
            JSON.parse(Buffer.from(fact.value.responseJson).toString() || "null"),
          ],
        ]
      : [],
  );
}

test("a run that asks is answered from the page with the form of its schema (S1.16)", async () => {
  const { run } = await client.runs.start("refund-with-approval");
  const { page, errors } = await open(`/runs/${run.runId}`);
  const banner = page.locator("[data-waiting]");
  await banner.getByText("Refund 480 EUR to Ada Lovelace?").waitFor();
  await banner.getByRole("button", { name: "Answer" }).click();

  const drawer = page.locator('[data-node-drawer="ask"]');
  await drawer.getByText("Refund 480 EUR to Ada Lovelace?").waitFor();
  await drawer.getByText("For finance.").waitFor();
  await drawer.getByText("claim › customer").waitFor();
  const form = drawer.getByRole("form", { name: "Answer" });
  await form.getByRole("button", { name: "Approve" }).click();
  await form.getByText("Fill this in.").waitFor();
  await form.getByLabel("Amount").fill("5000");
  await form.getByRole("button", { name: "Approve" }).click();
  await form.getByText("Must be at most 1000.").waitFor();
  expect(await answers(run.runId)).toEqual([]);

  await form.getByLabel("Amount").fill("450");
  await form.getByLabel("Note").fill("one was worn");
  await form.getByLabel("Your name").fill("Grace");
  await shoot(page, "approval-form");
  await form.getByRole("button", { name: "Approve" }).click();
  await waitForEnd(page);
  await drawer.getByText("Approved by Grace").waitFor();
  expect(await answers(run.runId)).toEqual([
    ["approve", "Grace", { amount: 450, note: "one was worn" }],
  ]);
  expect(errors).toEqual([]);
});

test("every kind of field gives its value, and an error that only the server finds is shown at its field", async () => {
  const { run } = await client.runs.start("shapes");
  const { page, errors } = await open(`/runs/${run.runId}?node=ask`);
  const form = page.getByRole("form", { name: "Answer" });
  await form.getByLabel("Code").fill("abc");
  await form
    .getByRole("group", { name: /Insured/ })
    .getByLabel("No")
    .check();
  await form.getByLabel("gift").check();
  await form.getByLabel("Floor").fill("3");
  await form.getByLabel("Day").fill("2026-11-17");
  await form.getByLabel("Raw").fill("[1, 2]");
  await form.getByRole("button", { name: "Approve" }).click();
  await form.locator('[data-fault=".to.street"]').waitFor();
  await form.getByLabel("Street").fill("Mill Lane 1");
  await form.getByRole("button", { name: "Approve" }).click();
  await form.locator('[data-fault=".code"]', { hasText: "Must match pattern" }).waitFor();
  await form.getByLabel("Code").fill("ABC");
  await form.getByRole("button", { name: "Approve" }).click();
  await waitForEnd(page);
  const response = {
    code: "ABC",
    size: "m",
    insured: false,
    extras: ["gift"],
    to: { street: "Mill Lane 1", floor: 3 },
    day: "2026-11-17",
    raw: [1, 2],
  };
  expect(await answers(run.runId)).toEqual([["approve", "", response]]);
  expect(errors).toEqual([]);
});

test("open questions are counted and listed; a question that another person rejects says by whom", async () => {
  const { run } = await client.runs.start("refund-with-approval");
  const { page, errors } = await open("/approvals");
  const card = page.locator(".inbox .card", { hasText: "Refund 480 EUR" });
  await card.getByText("for finance").waitFor();
  await page.locator('[data-open-approvals="1"]').waitFor();
  await card.getByRole("link", { name: "Answer" }).click();
  await page.waitForURL(`${cluster.url}/runs/${run.runId}?node=ask`);
  await page.getByRole("form", { name: "Answer" }).waitFor();

  const { approvals } = await client.approvals.list({ runId: run.runId });
  await client.approvals.reject(approvals[0]?.approvalId ?? "", {
    decidedBy: "Edsger",
    comment: "out of policy",
  });
  await page.getByText("Rejected by Edsger").waitFor();
  await page.getByText("out of policy").first().waitFor();
  expect(await page.getByRole("form", { name: "Answer" }).count()).toBe(0);
  expect(errors).toEqual([]);
});
