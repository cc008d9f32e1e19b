// Values that are too large for the log, on real processes: the log names them, handlers and readers have them.
import { createPawlClient, type Json, jsonOf, type PawlClient } from "@pawl/client";
import { freePort, LOOPBACK } from "@pawl/deploy/ports.ts";
import pg from "pg";
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from "vitest";
import { Program } from "../handler-kit/program.ts";
import { HANDLERS, sdkOrSkip } from "../handler-kit/programs/sdks.ts";
import { type Cluster, startCluster } from "../support/cluster.ts";
import { checkInvariants } from "../support/invariants.ts";
import { until } from "../support/until.ts";
import { graph, script } from "./graph.ts";
import { firstEvent, runGraph, storyOf } from "./story.ts";

let cluster: Cluster;
let client: PawlClient;
let db: pg.Client;

let address: string;

beforeAll(async () => {
  const port = await freePort();
  address = `${LOOPBACK}:${port}`;
  cluster = await startCluster({ envOf: { executor: { PAWL_HANDLER_PORT: String(port) } } });
  client = createPawlClient({ baseUrl: cluster.url });
  db = new pg.Client({ connectionString: cluster.databaseUrl });
  await db.connect();
});
beforeEach(({ onTestFailed }) => onTestFailed(() => console.error(cluster.logs().slice(-20_000))));
afterAll(async () => {
  await db.end();
  expect(await checkInvariants(cluster.databaseUrl)).toEqual([]);
  await cluster.stop();
});

const MIB = 1024 * 1024;
const REFERENCE = {
  "$pawl.value": {
    sha256: expect.stringMatching(/^[0-9a-f]{64}$/) as string,
    bytes: expect.any(Number) as number,
  },
};

/** The largest value of the run's log, in bytes. */
async function largestOf(runId: string): Promise<number> {
  const text =
    "select max(octet_length(value::text)) as most from pawl.run_events where run_id = $1";
  const { rows } = await db.query<{ most: number }>(text, [runId]);
  return rows[0]?.most ?? 0;
}

test("a value of 5 MB goes through handlers, templates, conditions and the memory, and the log has only references (S2.34)", async () => {
  const story = await runGraph(
    client,
    graph(["start > make > check:big > read > end", "make > keep > read"], {
      make: script(
        'return { rows: Array.from({ length: 5 }, (_, i) => "r" + i + "x".repeat(1_000_000)), n: 5 }',
        { write_key: "made" },
      ),
      check: {
        type: "condition",
        config: { branches: [{ id: "big", when: "size(ctx.nodes.make.rows[4]) > 1000000" }] },
      },
      keep: {
        type: "remember",
        config: { values: { first: "{{ ctx.nodes.make.rows[0] }}", n: "{{ ctx.nodes.make.n }}" } },
      },
      read: script(
        "return { first: ctx.memory.first.length, made: ctx.memory.made.rows[3].slice(0, 3), n: ctx.memory.n }",
      ),
    }),
  );
  expect(story.status, JSON.stringify(story.of("node.failed"))).toBe("completed");
  expect(story.outputOf("read")).toEqual({ first: 1_000_002, made: "r3x", n: 5 });
  expect(story.outputOf("make")).toMatchObject({ rows: REFERENCE, n: 5 });
  expect(await largestOf(story.runId)).toBeLessThan(2_000);
});

test("a tool of an agent gets large arguments from the log by reference (S2.34)", async () => {
  const turns = `[
    { calls: ["a", "b"].map((word) => ({ name: "size", arguments: { text: word.repeat(140000) } })) },
    { text: "{results}" },
  ]`;
  const size = { name: "size", type: "javascript", config: { code: "return input.text.length" } };
  const config = { model: "offline/script", prompt: "{{ ctx.nodes.make }}", tools: [size] };
  const story = await runGraph(
    client,
    graph(["start > make > agent > end"], {
      make: script(`return JSON.stringify(${turns})`),
      agent: { type: "agent", config },
    }),
  );
  expect(story.status, story.run.errorMessage).toBe("completed");
  expect(story.outputOf("agent")).toMatchObject({ text: '["140000","140000"]' });
  const turn = story.of("node.completed", "agent").find(({ iteration }) => iteration === 1);
  expect(turn?.payload).toMatchObject({
    output: { tool_calls: [{ arguments: REFERENCE }, { name: "size" }] },
  });
});

test("an input of 2 MB starts a run, and its digest is the digest of its text (S2.34)", async () => {
  const input = { text: "é".repeat(MIB), n: 1 };
  const story = await runGraph(
    client,
    graph(["start > a"], { a: script("return ctx.input.text.length") }),
    input,
  );
  expect(story.outputOf("a")).toBe(MIB);
  expect(await largestOf(story.runId)).toBeLessThan(1_000);
  const { run } = await client.runs.get(story.runId);
  const shown = jsonOf(run.inputJson) as Json;
  expect(shown).toMatchObject({ text: REFERENCE, n: 1 });
  expect(await client.runs.whole(story.runId, shown)).toEqual(input);
});

test("an input that no message holds is refused, and so is one that names a stored value; nothing starts (S2.34)", async () => {
  const start = (input: Json) => client.runs.test(graph(["start > a"]), { input });
  await expect(start({ text: "x".repeat(3 * MIB) })).rejects.toMatchObject({
    reason: "LIMIT_EXCEEDED",
  });
  const forged = { "$pawl.value": { sha256: "ab".repeat(32), bytes: 5 } };
  await expect(start({ list: [forged] })).rejects.toThrow("$pawl.value");
  const story = await runGraph(
    client,
    graph(["start > a"], { a: script("return { ['$pawl.' + 'value']: 1 }") }),
  );
  expect(story.of("node.failed", "a")[0]?.payload).toMatchObject({ cause: "output_invalid" });
});

test("a run reads its own values only, and a value that no event names is not found (S2.34)", async () => {
  const make = graph(["start > a"], { a: script('return "x".repeat(300000)') });
  const [one, other] = [await runGraph(client, make), await runGraph(client, graph(["start > a"]))];
  const {
    "$pawl.value": { sha256 },
  } = one.outputOf("a") as { "$pawl.value": { sha256: string } };
  expect(JSON.parse(await client.runs.valueText(one.runId, sha256))).toBe("x".repeat(300_000));
  const missing = { reason: "VALUE_NOT_FOUND" };
  await expect(client.runs.valueText(other.runId, sha256)).rejects.toMatchObject(missing);
  await expect(client.runs.valueText(one.runId, "0".repeat(64))).rejects.toMatchObject(missing);
  await expect(client.runs.valueText(one.runId, "x")).rejects.toMatchObject({
    reason: "INPUT_INVALID",
  });
});

test("a damaged value is found when it is read, and the node that reads it fails by name (S2.34)", async () => {
  const gate = { type: "await_signal", config: { name: "go" } };
  const { run } = await client.runs.test(
    graph(["start > make > gate > read"], {
      make: script('return { text: "damaged " + "x".repeat(300000) }', { output_variable: "made" }),
      gate,
      read: script("return ctx.vars.made.text.length"),
    }),
  );
  await firstEvent(
    client,
    run.runId,
    ({ type, nodeId }) => type === "node.blocked" && nodeId === "gate",
  );
  await db.query(
    "update pawl.value_parts set data = set_byte(data, 5, 65) where substring(data for 8) = $1",
    [Buffer.from('"damaged')],
  );
  await client.runs.signal(run.runId, "go");
  const story = await storyOf(client, run.runId);
  expect(story.of("node.failed", "read")[0]?.payload).toMatchObject({ cause: "value_corrupt" });
});

test("the values of a deleted run are loose, and those that other runs name are not (S2.34)", async () => {
  const make = (text: string) =>
    graph(["start > a"], { a: script(`return "${text}".repeat(300000)`) });
  const [kept, gone] = [await runGraph(client, make("k")), await runGraph(client, make("g"))];
  const twin = await runGraph(client, make("k"));
  await client.runs.delete(gone.runId);
  await client.runs.delete(twin.runId);
  const runs =
    "select array_agg(run_id::text) as runs from pawl.value_refs where run_id = any ($1)";
  const { rows } = await db.query<{ runs: string[] }>(runs, [[kept.runId, gone.runId, twin.runId]]);
  expect(rows[0]?.runs).toEqual([kept.runId]);
});

test.for(Object.entries(HANDLERS))(
  "a handler in %s gets and gives a value of 5 MB (S2.34)",
  { timeout: 90_000 },
  async ([language, find], context) => {
    const { command, env } = await sdkOrSkip(find, context);
    const program = new Program(command, { ...env, PAWL_HANDLER_ADDRESS: address });
    onTestFinished(() => program.kill());
    const served = async (): Promise<boolean> =>
      (await client.executors.list()).some(({ processName }) => processName === "kit");
    await until(served, { what: `the ${language} program to serve: ${program.stderr}` });
    const story = await runGraph(
      client,
      graph(["start > make > echo > read"], {
        make: script('return { text: "é".repeat(2500000) }'),
        echo: { type: "kit.echo@1", input: { got: "{{ ctx.nodes.make.text }}" } },
        read: script("return ctx.nodes.echo.got.length"),
      }),
    );
    expect(story.outputOf("read"), JSON.stringify(story.of("node.failed"))).toBe(2_500_000);
    expect(await largestOf(story.runId)).toBeLessThan(1_000);
    program.signal("SIGTERM");
    expect(await program.exit("an end after SIGTERM")).toEqual({ code: 0, signal: null });
    await until(async () => !(await served()), { what: "the end of its session" });
  },
);
