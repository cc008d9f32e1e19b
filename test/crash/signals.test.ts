// A scheduler dies in the commit of a signal or of a passed deadline, or right behind it. The client repeats its signal under the same
// request id, and the next scheduler finds the deadline. Each wait ends once. Then every process dies while a run waits.
import { createPawlClient, type PawlClient } from "@pawl/client";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { graph, type GraphText, type NodeText } from "../flow/graph.ts";
import { firstEvent, type Story, storyOf } from "../flow/story.ts";
import { type Cluster, startCluster } from "../support/cluster.ts";
import { checkInvariants } from "../support/invariants.ts";
import { failpoints, replaceScheduler } from "./processes.ts";

let cluster: Cluster;
let client: PawlClient;

beforeAll(async () => {
  cluster = await startCluster({ envOf: { scheduler: { PAWL_GRACE_MS: "200" } } });
  client = createPawlClient({ baseUrl: cluster.url, attempts: 30 });
});
beforeEach(({ onTestFailed }) => onTestFailed(() => console.error(cluster.logs())));
afterAll(() => cluster.stop());

const waiting = (config: NodeText = {}): GraphText =>
  graph(["start > wait > after > end", "wait:timeout > late"], {
    wait: { type: "await_signal", config: { name: "paid", ...config } },
  });

/** Starts a run and returns when it waits. */
async function begin(definition: GraphText): Promise<string> {
  const { run } = await client.runs.test(definition);
  await firstEvent(client, run.runId, ({ type }) => type === "node.blocked");
  return run.runId;
}

const endsOf = (story: Story) =>
  story.events.filter(({ type, nodeId }) => nodeId === "wait" && type === "node.completed");

test.each(["tick.signalled", "tick.before-commit", "tick.after-commit"])(
  "a signal survives the death of its scheduler at %s, and counts once (S2.29, X17)",
  async (point) => {
    const runId = await begin(waiting());
    await cluster.schedulers[0]?.kill("SIGKILL");
    const doomed = await replaceScheduler(cluster, failpoints(`${point}=kill`));
    const sent = client.runs.signal(runId, "paid", { payload: point });
    expect(await doomed.exited()).toBe("SIGKILL");
    await cluster.schedulers[0]?.restart();
    await sent;
    const story = await storyOf(client, runId);
    expect(story.status).toBe("completed");
    expect(story.of("run.signalled")).toHaveLength(1);
    expect(endsOf(story)).toHaveLength(1);
    expect(await checkInvariants(cluster.databaseUrl, [runId])).toEqual([]);
  },
);

test("a deadline that passes while its scheduler dies ends the wait once, by the next one (S2.19)", async () => {
  const runId = await begin(waiting({ timeout_ms: 3_000 }));
  await cluster.schedulers[0]?.kill("SIGKILL");
  const doomed = await replaceScheduler(cluster, failpoints("tick.signal-due=kill"));
  expect(await doomed.exited()).toBe("SIGKILL");
  await cluster.schedulers[0]?.restart();
  const story = await storyOf(client, runId);
  expect(endsOf(story)).toMatchObject([{ payload: { handle: "timeout" } }]);
  expect(await checkInvariants(cluster.databaseUrl, [runId])).toEqual([]);
});

test.each(["tick.before-commit", "tick.after-commit"])(
  "a cancel of a waiting run survives the death of its scheduler at %s, and a later signal finds it ended",
  async (point) => {
    const runId = await begin(waiting({ timeout_ms: 3_600_000 }));
    await cluster.schedulers[0]?.kill("SIGKILL");
    const doomed = await replaceScheduler(cluster, failpoints(`${point}=kill`));
    const cancelled = client.runs.cancel(runId);
    expect(await doomed.exited()).toBe("SIGKILL");
    await cluster.schedulers[0]?.restart();
    await cancelled;
    await expect(client.runs.signal(runId, "paid")).rejects.toMatchObject({
      reason: "RUN_ALREADY_FINISHED",
    });
    const story = await storyOf(client, runId);
    expect(story.of("node.cancelled", "wait")).toHaveLength(1);
    expect(await checkInvariants(cluster.databaseUrl, [runId])).toEqual([]);
  },
);

test("without the hand-off an executor names the signal, and the wait survives a change of the setting", async () => {
  await cluster.schedulers[0]?.kill("SIGKILL");
  const queueing = await replaceScheduler(cluster, { PAWL_HAND_OFF: "false" });
  const runId = await begin(waiting());
  await queueing.kill("SIGKILL");
  await cluster.schedulers[0]?.restart();
  await client.runs.signal(runId, "paid", { payload: 1 });
  const story = await storyOf(client, runId);
  expect(story.of("node.started", "wait")).toHaveLength(1);
  expect(endsOf(story)).toHaveLength(1);
  expect(await checkInvariants(cluster.databaseUrl, [runId])).toEqual([]);
});

test("a run waits across the death of every process, keeps early signals, and its deadline passes in time (S2.18, S2.19)", async () => {
  const timed = await begin(waiting({ timeout_ms: 6_000 }));
  const early = graph(["start > hold > wait > end"], {
    hold: { type: "approval", config: { message: "Go?" } },
    wait: { type: "await_signal", config: { name: "paid" } },
  });
  const kept = await begin(early);
  await client.runs.signal(kept, "paid", { payload: "early" });
  const members = [...cluster.schedulers, ...cluster.executors, ...cluster.gateways];
  await Promise.all(members.map((member) => member.kill("SIGKILL")));
  for (const member of members) await member.restart();
  await client.runs.decide(kept, "hold", "approve");
  expect((await storyOf(client, kept)).outputOf("wait")).toMatchObject({ payload: "early" });
  const story = await storyOf(client, timed);
  const [opened] = story.of("node.blocked", "wait");
  const [ended] = endsOf(story);
  expect(ended?.payload).toMatchObject({ handle: "timeout" });
  expect((ended?.at ?? 0) - (opened?.at ?? 0)).toBeGreaterThanOrEqual(6_000);
  expect(await checkInvariants(cluster.databaseUrl, [timed, kept])).toEqual([]);
});
