// The same cases for handlers in TypeScript, Python and Go on one real trio: each language leaves the same log. The programs of the conformance
// kit serve one after the other, because processes with the same types share the work. It takes about 30 s.
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createPawlClient, type Json, type PawlClient } from "@pawl/client";
import { FailureClass } from "@pawl/proto/pawl/v1/run_pb";
import { freePort, LOOPBACK } from "@pawl/deploy/ports.ts";
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from "vitest";
import { ENDINGS, endingMs, pauseMs } from "../bench/control-latency.ts";
import { Program } from "../handler-kit/program.ts";
import { HANDLERS, sdkOrSkip } from "../handler-kit/programs/sdks.ts";
import { type Cluster, startCluster } from "../support/cluster.ts";
import { temporaryFolder } from "../support/folder.ts";
import { checkInvariants } from "../support/invariants.ts";
import { until } from "../support/until.ts";
import { graph, type NodeText } from "./graph.ts";
import { firstEvent, type Story, storyOf } from "./story.ts";

const PHRASE = "forbidden fruit";
/** Long enough for a function to begin on a busy machine, where a case is about what happens next. */
const TIMEOUT_MS = 2_000;
const CONTROL_MAX_MS = 2_000;

let cluster: Cluster;
let client: PawlClient;
let address: string;
let folder: string;

beforeAll(async () => {
  folder = temporaryFolder("languages");
  const rules = join(folder, "rules.yaml");
  writeFileSync(rules, `rules: [{ id: fruit, category: food, literal: ${PHRASE} }]`);
  const port = await freePort();
  address = `${LOOPBACK}:${port}`;
  const env = { PAWL_HANDLER_PORT: String(port), PAWL_MODERATION_RULES: rules };
  cluster = await startCluster({ envOf: { executor: env } });
  client = createPawlClient({ baseUrl: cluster.url });
});
beforeEach(({ onTestFailed }) => onTestFailed(() => console.error(cluster.logs())));
afterAll(async () => {
  await cluster.stop();
  rmSync(folder, { recursive: true });
});

const RETRY = { attempts: 2, backoff_ms: 1, jitter: false };

const NODES = {
  contract: {
    type: "kit.echo@1",
    input: { text: "hello" },
    contracts: { output: { type: "object", required: ["receipt"] } },
  },
  blocked: {
    type: "kit.stream@1",
    input: { pieces: ["well, f", "orbidde", "n fruit", " and what comes after"] },
    moderation: "output",
  },
  cancelled: { type: "kit.wait@1", input: { name: "cancelled" } },
  timeout: { type: "kit.wait@1", input: { name: "late" }, timeout_ms: TIMEOUT_MS },
  // Each attempt fails after its effect, because the output has no receipt.
  effect: {
    type: "kit.effect@1",
    input: { name: "charge", class: "idempotent" },
    contracts: { output: { type: "object", required: ["receipt"] } },
    retry: RETRY,
  },
  input: {
    type: "kit.typed@1",
    input: { text: "a", count: "{{ctx.input.count}}" },
    retry: RETRY,
  },
  thrown: { type: "kit.fail@1", input: { mode: "throw", message: "boom" }, retry: RETRY },
  // A limit of the handler, which is not that of the node.
  slow: { type: "kit.fail@1", input: { mode: "timeout", message: "" }, retry: RETRY },
} satisfies Readonly<Record<string, NodeText>>;
type Case = keyof typeof NODES;

const begun = (attempt: number): string[] => [
  `node.queued work ${attempt}`,
  `node.started work ${attempt}`,
];

/** What a run logs after run.started. */
const EXPECTED: Readonly<Record<Case, readonly string[]>> = {
  contract: [
    ...begun(1),
    "contract.violated work 1",
    "node.failed work 1 output_contract_violation retriable",
    "run.failed output_contract_violation retriable",
  ],
  blocked: [
    ...begun(1),
    "moderation.flagged work 1",
    "node.failed work 1 moderation_blocked permanent",
    "run.failed moderation_blocked permanent",
  ],
  cancelled: [...begun(1), "node.cancelled work 1", "run.cancelled cancelled"],
  timeout: [...begun(1), "node.timed_out work 1 timeout", "run.failed timeout timeout"],
  effect: [
    ...begun(1),
    "contract.violated work 1",
    "node.retried work 1 contract_violated retriable",
    ...begun(2),
    "contract.violated work 2",
    "node.failed work 2 output_contract_violation retriable",
    "run.failed output_contract_violation retriable",
  ],
  input: [
    ...begun(1),
    "node.failed work 1 input_invalid permanent",
    "run.failed input_invalid permanent",
  ],
  thrown: [
    ...begun(1),
    "node.retried work 1 provider_error retriable",
    ...begun(2),
    "node.failed work 2 provider_error retriable",
    "run.failed provider_error retriable",
  ],
  slow: [
    ...begun(1),
    "node.retried work 1 user_timeout user_timeout",
    ...begun(2),
    "node.failed work 2 user_timeout user_timeout",
    "run.failed user_timeout user_timeout",
  ],
};

/** A log as lines with type, attempt, cause and class. How a stream is cut into deltas is a matter of time, so deltas are left out. */
const linesOf = ({ events }: Story): string[] =>
  events
    .filter(({ type }) => type !== "node.stream.delta" && type !== "run.started")
    .map(({ type, nodeId, attempt, payload }) => {
      const { cause, failureClass } = (payload ?? {}) as Record<string, string | undefined>;
      const place = nodeId === "" ? [] : [nodeId, attempt];
      return [type, ...place, cause ?? "", failureClass ?? ""]
        .filter((word) => word !== "")
        .join(" ");
    });

const streamed = (story: Story): string =>
  story
    .of("node.stream.delta")
    .map(({ payload }) => (payload as { text: string }).text)
    .join("");

async function start(name: Case, input: Json = null): Promise<string> {
  const { run } = await client.runs.test(graph(["work"], { work: NODES[name] }), { input });
  return run.runId;
}

const play = async (name: Case, input?: Json): Promise<Story> =>
  await storyOf(client, await start(name, input));

async function cancelled(): Promise<Story> {
  const runId = await start("cancelled");
  await firstEvent(client, runId, ({ type }) => type === "node.stream.delta");
  await client.runs.cancel(runId);
  return await storyOf(client, runId);
}

test.for(Object.entries(HANDLERS))(
  "a handler in %s leaves the same log as the other languages, and a control reaches it at once (S4.13)",
  { timeout: 90_000 },
  async ([language, find], context) => {
    const { command, env } = await sdkOrSkip(find, context);
    const program = new Program(command, { ...env, PAWL_HANDLER_ADDRESS: address });
    onTestFinished(() => program.kill());
    const served = async (): Promise<boolean> =>
      (await client.executors.list()).some(({ processName }) => processName === "kit");
    await until(served, { what: `the ${language} program to serve: ${program.stderr}` });

    const [contract, blocked, cancel, timeout, effect, input, thrown, slow] = await Promise.all([
      play("contract"),
      play("blocked"),
      cancelled(),
      play("timeout"),
      play("effect"),
      play("input", { count: 0 }),
      play("thrown"),
      play("slow"),
    ]);
    const stories = { contract, blocked, cancelled: cancel, timeout, effect, input, thrown, slow };
    const logs = Object.fromEntries(
      Object.entries(stories).map(([name, story]) => [name, linesOf(story)]),
    );
    expect(logs).toEqual(EXPECTED);

    expect("well, ".startsWith(streamed(blocked))).toBe(true);
    expect(JSON.stringify(blocked.events)).not.toContain("orbidde");
    expect([streamed(cancel), streamed(timeout)]).toEqual(["started", "started"]);
    // The functions learn why, and stop.
    for (const note of ["cancelled cancelled cancelled", "cancelled late timeout"])
      await program.note(note);
    for (const note of ["returned cancelled", "returned late"]) await program.note(note);
    expect((await client.runs.effects(effect.runId)).effects).toHaveLength(1);
    const { runs } = await client.runs.list({ filter: 'failure_class = "user_timeout"' });
    const listed = runs.find(({ runId }) => runId === slow.runId);
    expect(listed?.failureClass).toBe(FailureClass.USER_TIMEOUT);
    const runIds = Object.values(stories).map(({ runId }) => runId);
    expect(await checkInvariants(cluster.databaseUrl, runIds)).toEqual([]);

    // `npm run bench -- control` has the figures. Here a signal that waits for a renewal or a poll is found.
    for (const how of ENDINGS)
      expect(await endingMs({ client, program, name: how }, how)).toBeLessThan(CONTROL_MAX_MS);
    const { pause, resume } = await pauseMs({ client, program, name: "paused" });
    expect(Math.max(pause, resume)).toBeLessThan(CONTROL_MAX_MS);

    program.signal("SIGTERM");
    expect(await program.exit("an end after SIGTERM")).toEqual({ code: 0, signal: null });
    // The end of the process closes its output, so no note is missing.
    expect(program.notes.things.filter((note) => note === "made charge")).toHaveLength(1);
    await until(async () => !(await served()), { what: "the end of its session" });
  },
);
