// Agents survive. An executor dies in a turn or in a tool, and a scheduler dies in the commits between them. Only the execution that was lost
// runs again: the calls that have settled keep their results, and every call reaches the server under one key.
import { createPawlClient, type PawlClient } from "@pawl/client";
import { expect, onTestFinished, test } from "vitest";
import { graph } from "../flow/graph.ts";
import { SINK_EGRESS, startSink, type Sink } from "../flow/sink.ts";
import { type Story, storyOf } from "../flow/story.ts";
import { type Cluster, startCluster } from "../support/cluster.ts";
import { checkInvariants } from "../support/invariants.ts";
import { failpoints, replaceScheduler, startExecutor } from "./processes.ts";

const SCHEDULER = { PAWL_GRACE_MS: "200", PAWL_SWEEP_MS: "100" };

const call = (name: string) => ({ name, arguments: {} });

/** Two turns with two calls each, then the answer. Each tool calls the sink under a name of its own. */
function twoTurns(sink: Sink, prefix: string, names: readonly string[] = ["a", "b", "c", "d"]) {
  const [a = "", b = "", c = "", d = ""] = names;
  const script = [
    { text: "one", calls: [call(a), call(b)] },
    { text: "two", calls: [call(c), call(d)] },
    { text: "{results}" },
  ];
  const tools = names.map((name) => ({
    name,
    http: {
      ...{ url: sink.url(`${name}-${prefix}`), method: "POST" },
      idempotency_key_header: "Idempotency-Key",
    },
  }));
  const config = { model: "offline/script", prompt: JSON.stringify(script), tools };
  return graph(["start > agent > end"], { agent: { type: "agent", config } });
}

async function setup(options: { readonly executors?: number } = {}) {
  const sink = await startSink();
  onTestFinished(() => sink.stop());
  const cluster = await startCluster({
    env: SINK_EGRESS,
    envOf: { scheduler: SCHEDULER },
    ...options,
  });
  onTestFinished(() => cluster.stop());
  const client = createPawlClient({ baseUrl: cluster.url, attempts: 30 });
  onTestFinished(() => client.close());
  return { sink, cluster, client };
}

/** The run completed in seven iterations, each of them once, and the invariants hold. */
async function whole(client: PawlClient, cluster: Cluster, runId: string): Promise<Story> {
  const story = await storyOf(client, runId);
  expect(story.status, story.run.errorMessage).toBe("completed");
  const ended = story.of("node.completed", "agent").map(({ iteration }) => iteration);
  expect(ended.toSorted((one, other) => one - other)).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
  expect(await checkInvariants(cluster.databaseUrl, [runId])).toEqual([]);
  return story;
}

/** How often the sink was called under each name, and under how many keys in all. */
const callsOf = ({ calls }: Sink, prefix: string) => {
  const own = calls.filter(({ name }) => name.endsWith(`-${prefix}`));
  return { count: own.length, keys: new Set(own.map((each) => each.idempotencyKey)).size };
};

test("an executor killed before any turn or call costs that one execution, and a call that was on its way is made again under its key (S2.36, X13)", async () => {
  const { sink, cluster, client } = await setup({ executors: 0 });
  // The opening, a turn, its two calls, a turn, its two calls, the last turn: the executor dies before one of each kind.
  const runIds: string[] = [];
  for (const nth of [1, 2, 3, 8]) {
    const doomed = await startExecutor(cluster, failpoints(`handler.before-run@${nth}=kill`));
    const { run } = await client.runs.test(twoTurns(sink, `kill${nth}`));
    runIds.push(run.runId);
    expect(await doomed.exited(), String(nth)).toBe("SIGKILL");
    const heir = await startExecutor(cluster);
    const story = await whole(client, cluster, run.runId);
    expect(story.of("run.recovered", "agent").length).toBeGreaterThan(0);
    const { count, keys } = callsOf(sink, `kill${nth}`);
    expect([nth, keys]).toEqual([nth, 4]);
    // A call of the same turn may have been on its way when the process died.
    expect(count).toBeLessThanOrEqual(5);
    await heir.kill("SIGTERM");
    await heir.exited();
  }
}, 120_000);

test("an executor killed in a tool makes its call again under the same key, and not the call beside it", async () => {
  const { sink, cluster, client } = await setup({ executors: 0 });
  const first = await startExecutor(cluster);
  const { run } = await client.runs.test(twoTurns(sink, "mid", ["a", "hold", "c", "d"]));
  const held = await sink.received("hold-mid");
  for await (const event of client.watch(run.runId))
    if (event.type === "node.completed" && event.iteration === 2) break;
  await first.kill("SIGKILL");
  await startExecutor(cluster);
  const again = await sink.received("hold-mid", 2);
  expect(again.idempotencyKey).toBe(held.idempotencyKey);
  again.answer(200, { ok: true });
  await whole(client, cluster, run.runId);
  expect(callsOf(sink, "mid")).toEqual({ count: 5, keys: 4 });
});

test("a scheduler killed in the commits between turns continues the same conversation (X13, S0.36)", async () => {
  const { sink, cluster, client } = await setup();
  await cluster.schedulers[0]?.kill("SIGKILL");
  const points = [
    "tick.before-commit@2",
    "tick.after-commit@4",
    "tick.before-commit@5",
    "tick.after-commit@7",
  ];
  const accepted: Promise<string>[] = [];
  for (const [at, point] of points.entries()) {
    const doomed = await replaceScheduler(cluster, {
      ...SCHEDULER,
      ...failpoints(`${point}=kill`),
    });
    accepted.push(client.runs.test(twoTurns(sink, `tick${at}`)).then(({ run }) => run.runId));
    expect(await doomed.exited(), point).toBe("SIGKILL");
  }
  await replaceScheduler(cluster, SCHEDULER);
  for (const [at, runId] of (await Promise.all(accepted)).entries()) {
    await whole(client, cluster, runId);
    expect(callsOf(sink, `tick${at}`).keys).toBe(4);
  }
}, 120_000);
