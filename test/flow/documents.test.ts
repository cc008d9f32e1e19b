// The quickstart and the guides work as written. The commands of the quickstart run one after the other and print what the page shows.
// Workflows of the guides run and end as the text around them explains.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { runProgram } from "@pawl/cli/program";
import { createPawlClient, jsonOf, type Json, type PawlClient } from "@pawl/client";
import { NodeStatus } from "@pawl/proto/pawl/v1/run_pb";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Cluster } from "../support/cluster.ts";
import { sharedCluster } from "../support/shared-cluster.ts";
import { fencesOf } from "../tidy/docs/markdown.ts";
import { commandsOf, pawlWords } from "../tidy/docs/shell.ts";
import { ROOT } from "../tidy/sources.ts";
import { firstEvent } from "./story.ts";

const read = (page: string): string => readFileSync(join(ROOT, "docs", page), "utf8");
const fences = fencesOf(read("quickstart.md"));
/** The workflow of this id on a page. */
const workflowOf = (page: string, id: string): string =>
  fencesOf(read(page)).find(({ text }) => text.startsWith(`id: ${id}\n`))?.text ?? "";
const textOf = (language: string): string =>
  fences.find((fence) => fence.language === language)?.text ?? "";
/** The calls of `pawl` on the page, in order, without its name. */
const calls = fences
  .filter(({ language }) => language === "sh")
  .flatMap(({ text }) => commandsOf(text).flatMap((words) => [pawlWords(words) ?? []]))
  .filter((words) => words.length > 0);

let cluster: Cluster;
let client: PawlClient;

beforeAll(async () => {
  cluster = await sharedCluster();
  client = createPawlClient({ baseUrl: cluster.url });
});
afterAll(() => cluster.stop());

/** Types a command in a folder that holds the file of the quickstart. */
async function pawl(words: readonly string[]): Promise<{ code: number; out: string }> {
  const printed = { out: "", error: "" };
  const host = {
    terminal: {
      write: (text: string) => void (printed.out += text),
      writeError: (text: string) => void (printed.error += text),
      isTty: false,
      hasColour: false,
      width: () => 80,
      height: () => 24,
    },
    version: "0.0.0",
    defaultAddress: cluster.url,
    self: "./pawl",
    connect: (baseUrl: string) => createPawlClient({ baseUrl }),
    readText: async (path: string) => {
      expect(path).toBe("welcome.yaml");
      return textOf("yaml");
    },
    runTool: async () => 0,
    now: () => Date.now(),
    interrupted: new AbortController().signal,
  };
  const code = await runProgram(host, words);
  expect(printed.error).not.toContain("warning");
  return { code, out: printed.out };
}

test("the commands of the quickstart work one after the other and print what the page shows", async () => {
  let runId = "";
  for (const words of calls) {
    // The page writes RUN where a reader puts the id.
    const typed = words.map((word) => (word === "RUN" ? runId : word));
    const { code, out } = await pawl(typed);
    expect(code, typed.join(" ")).toBe(0);
    if (typed[1] === "start") expect(JSON.parse(out)).toEqual(JSON.parse(textOf("json")));
    if (typed[1] === "list")
      runId = /\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/.exec(out)?.[0] ?? "";
  }
  expect(calls.map(([noun, verb]) => `${noun} ${verb}`)).toEqual([
    "workflow apply",
    "run start",
    "run list",
    "run get",
    "run watch",
    "run explain",
  ]);
});

/** Runs a workflow of a guide to its end: its output, and the nodes that it skipped. */
async function ended(runId: string): Promise<{ output: Json | undefined; skipped: string[] }> {
  const { nodes, outputJson } = await client.runs.wait(runId);
  const skipped = nodes.filter(({ status }) => status === NodeStatus.SKIPPED);
  return { output: jsonOf(outputJson), skipped: skipped.map(({ nodeId }) => nodeId).toSorted() };
}

test.each([
  { grams: 20, taken: "mail" },
  { grams: 900, taken: "van" },
  { grams: 90_000, taken: "truck" },
])("a condition of the guide sends $grams grams by $taken and skips the others", async (way) => {
  const definition = workflowOf("guides/joins-and-conditions.md", "shipping");
  const { run } = await client.runs.test(definition, { input: { grams: way.grams } });
  const ways = ["mail", "truck", "van"].filter((node) => node !== way.taken);
  expect((await ended(run.runId)).skipped).toEqual(ways);
});

test("a signal of the guide that fits releases the order, and one that does not changes nothing", async () => {
  const definition = workflowOf("guides/signals.md", "paid-order");
  const { run } = await client.runs.test(definition, { input: { order: "A-1042" } });
  await firstEvent(client, run.runId, ({ type }) => type === "node.blocked");
  const name = "payment.A-1042";
  const unfit = client.runs.signal(run.runId, name, { payload: { amount: -1 } });
  await expect(unfit).rejects.toMatchObject({ reason: "INPUT_INVALID" });
  await client.runs.signal(run.runId, name, { payload: { amount: 480 } });
  expect(await ended(run.runId)).toEqual({
    output: { shipped: "A-1042", paid: 480 },
    skipped: ["remind"],
  });
});

test("an approval of the guide takes a response that fits, or is rejected by its own edge", async () => {
  const definition = workflowOf("guides/approvals.md", "refund");
  const input = { amount: 480, customer: "Ada", order: "A-1042" };
  const ask = async (): Promise<{ runId: string; approvalId: string }> => {
    const { run } = await client.runs.test(definition, { input });
    await firstEvent(client, run.runId, ({ type }) => type === "node.blocked");
    const { approvals } = await client.approvals.list({ runId: run.runId });
    return { runId: run.runId, approvalId: approvals[0]?.approvalId ?? "" };
  };
  const paid = await ask();
  const unfit = client.approvals.approve(paid.approvalId, { response: { amount: -1 } });
  await expect(unfit).rejects.toMatchObject({ reason: "INPUT_INVALID" });
  await client.approvals.approve(paid.approvalId, { response: { amount: 450 } });
  expect(await ended(paid.runId)).toMatchObject({
    output: { refunded: 450 },
    skipped: ["refused"],
  });
  const refused = await ask();
  await client.approvals.reject(refused.approvalId);
  expect((await ended(refused.runId)).skipped).toEqual(["pay"]);
});
