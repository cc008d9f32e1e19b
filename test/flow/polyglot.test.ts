// The example polyglot-order as `npm start` runs it: one run through handler processes in Go, Python and TypeScript, on a real trio. It takes
// about 15 s.
import { readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { createPawlClient, type PawlClient, sampleInputOf } from "@pawl/client";
import { readText } from "@pawl/core/definition/read-text";
import { commandLine } from "@pawl/deploy/guard.ts";
import { Polyglot, polyglotText } from "@pawl/deploy/polyglot/polyglot.ts";
import { type Program, PROGRAMS } from "@pawl/deploy/polyglot/programs.ts";
import { freePort, LOOPBACK } from "@pawl/deploy/ports.ts";
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from "vitest";
import { type Cluster, startCluster } from "../support/cluster.ts";
import { temporaryFolder } from "../support/folder.ts";
import { goOrSkip } from "../support/go.ts";
import { checkInvariants } from "../support/invariants.ts";
import { pythonOrSkip } from "../support/python.ts";
import { until } from "../support/until.ts";
import { storyOf } from "./story.ts";

const LETTER =
  "Dear Ada Lovelace, thank you for order A-1042: 5 pieces for 53.00 EUR. It leaves our house today.";

let cluster: Cluster;
let client: PawlClient;
let address: string;
let folder: string;

beforeAll(async () => {
  folder = temporaryFolder("polyglot");
  const port = await freePort();
  address = `${LOOPBACK}:${port}`;
  cluster = await startCluster({ envOf: { executor: { PAWL_HANDLER_PORT: String(port) } } });
  client = createPawlClient({ baseUrl: cluster.url });
});
beforeEach(({ onTestFailed }) => onTestFailed(() => console.error(cluster.logs())));
afterAll(async () => {
  await cluster.stop();
  rmSync(folder, { recursive: true });
});

function polyglot(programs: readonly Program[]) {
  const lines: string[] = [];
  const outbox = join(folder, "outbox");
  const report = (line: string): void => void lines.push(line);
  const handlers = new Polyglot({ client, address, logDir: folder, outbox, programs, report });
  onTestFinished(() => handlers.stop());
  return { handlers, lines, outbox };
}

test("without a toolchain the other languages serve, and the workflow that needs it is not registered", async () => {
  const [typescript] = PROGRAMS;
  const missing: Program = {
    language: "Cobol",
    type: "shop.ledger@1",
    prepare: async () => ({ kind: "missing", why: "no compiler\nis on the path" }),
  };
  const { handlers, lines } = polyglot([
    ...(typescript === undefined ? [] : [typescript]),
    missing,
  ]);
  expect(await handlers.start()).toBe(false);
  expect(lines).toEqual([
    "no example handler in Cobol: no compiler is on the path",
    expect.stringMatching(
      /^the example handler in TypeScript serves shop\.letter@1 \(process \d+\)$/,
    ),
  ]);
  await expect(client.workflows.get("polyglot-order")).rejects.toMatchObject({
    reason: "WORKFLOW_NOT_FOUND",
  });
});

/** A program that runs a script and never connects. */
const scripted = (language: string, script: string): Program => ({
  language,
  type: "shop.none@1",
  prepare: async () => ({ kind: "found", command: [process.execPath, "-e", script], env: {} }),
});

test("a program that ends before it serves is named with its log", async () => {
  const { handlers, lines } = polyglot([scripted("Broken", "process.exit(7)")]);
  expect(await handlers.start()).toBe(false);
  expect(lines).toEqual([
    expect.stringMatching(
      /^! no example handler in Broken: it ended .*exit code 7.*example-broken\.log$/,
    ),
  ]);
});

test("a stop ends a program that does not connect, and says nothing about it", async () => {
  const mute = scripted("Mute", "console.log('pid', process.pid); setInterval(() => {}, 1000)");
  const { handlers, lines } = polyglot([mute]);
  const started = handlers.start();
  const log = (): string => readFileSync(join(folder, "example-mute.log"), "utf8");
  const pid = await until(() => /^pid (\d+)$/m.exec(log())?.[1], { what: "the program" });
  await handlers.stop();
  expect([await started, lines, commandLine(Number(pid))]).toEqual([false, [], ""]);
});

test("one run passes through Go, Python and TypeScript and sends its letter once; an agent calls tools in Go and Python (S2.32)", async (context) => {
  goOrSkip(context);
  await pythonOrSkip(context);
  const { handlers, lines, outbox } = polyglot(PROGRAMS);
  expect(await handlers.start(), lines.join("\n")).toBe(true);
  expect(lines.at(-1)).toContain("./pawl run start polyglot-order --sample --wait");
  const pids = lines.flatMap((line) => /process (\d+)/.exec(line)?.[1] ?? []).map(Number);
  expect(pids).toHaveLength(3);

  const read = readText(polyglotText());
  const input = read.ok ? sampleInputOf(read.value) : undefined;
  const { run } = await client.runs.start("polyglot-order", { input: input ?? null });
  const story = await storyOf(client, run.runId);
  expect(story.status, story.run.errorMessage).toBe("completed");
  const [file = ""] = readdirSync(outbox);
  expect(story.output).toEqual({ cents: 5300, score: 0.05, reasons: [], letter: file });
  const streamed = story
    .of("node.stream.delta", "letter")
    .map(({ payload }) => (payload as { text: string }).text);
  expect(streamed.join("")).toBe(LETTER);
  expect(readdirSync(outbox)).toHaveLength(1);
  expect(readFileSync(join(outbox, file), "utf8")).toBe(`To: ada@example.com\n\n${LETTER}\n`);
  expect((await client.runs.effects(run.runId)).effects).toHaveLength(1);
  expect(await checkInvariants(cluster.databaseUrl, [run.runId])).toEqual([]);

  const agent = await client.runs.start("polyglot-agent", { input: null });
  const told = await storyOf(client, agent.run.runId);
  expect(told.status, told.run.errorMessage).toBe("completed");
  expect(told.output).toEqual({ verdict: "The order may be shipped.", cents: 3800, score: 0.05 });
  const steps = told.run.nodes.filter(({ item }) => item > 0);
  expect(steps.map(({ tool }) => tool)).toEqual(["", "price", "risk", "", "save_to_memory", ""]);
  const saved = await client.workflows.get("polyglot-agent");
  // The version keeps the schemas that Go and Python published.
  const text = Buffer.from(saved.definitionJson).toString();
  expect(text).toContain('"published_schema":{');
  expect(await checkInvariants(cluster.databaseUrl, [agent.run.runId])).toEqual([]);

  const languages = (await client.executors.list()).map(({ language }) => language.split(" ")[0]);
  expect(languages).toEqual(expect.arrayContaining(["go", "python", "node"]));
  // What Go writes is checked against what Python and TypeScript read.
  const wrongly = (from: string, to: string) =>
    client.workflows.apply(polyglotText().replace(from, to), { workflowId: "polyglot-order" });
  await expect(wrongly("ctx.price.cents", "ctx.price.centz")).rejects.toMatchObject({
    violations: [{ path: "definition.nodes[2].input.cents", reason: "NO_SUCH_OUTPUT" }],
  });
  await expect(wrongly("ctx.price.cents", "ctx.price")).rejects.toMatchObject({
    violations: [{ path: "definition.nodes[2].input.cents", reason: "TYPE_MISMATCH" }],
  });
  const score = 'score: "{{ctx.risk.score}}"';
  await expect(wrongly(score, 'score: "{{ctx.risk.reasons}}"')).rejects.toMatchObject({
    violations: [{ path: "definition.nodes[3].input.score", reason: "TYPE_MISMATCH" }],
  });

  await handlers.stop();
  expect(pids.map(commandLine)).toEqual(["", "", ""]);
}, 180_000);
