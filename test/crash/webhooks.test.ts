// Webhooks and faults: the death of processes between a call and its record, in the commit of the event, and in a shutdown. A receiver that
// does not answer, and one behind a private name.
import { createPawlClient, type PawlClient } from "@pawl/client";
import type { ServerResponse } from "node:http";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { graph } from "../flow/graph.ts";
import { type Receiver, startReceiver } from "../flow/receiver.ts";
import { SINK_EGRESS } from "../flow/sink.ts";
import { type Cluster, startCluster } from "../support/cluster.ts";
import { checkInvariants } from "../support/invariants.ts";
import { until } from "../support/until.ts";
import { failpoints, replaceScheduler } from "./processes.ts";

let cluster: Cluster;
let client: PawlClient;
let receiver: Receiver;
const held: ServerResponse[] = [];
let isSilent = true;

beforeAll(async () => {
  receiver = await startReceiver((path, nth, response) => {
    if ((path === "slow" && nth === 1) || (path === "silent" && isSilent)) held.push(response);
    else response.end();
  });
  const env = { ...SINK_EGRESS, PAWL_WEBHOOK_RETRY_MS: "20", PAWL_GRACE_MS: "200" };
  cluster = await startCluster({ env });
  client = createPawlClient({ baseUrl: cluster.url, attempts: 30 });
  await client.workflows.apply({ ...graph(["start > end"]), id: "answers" });
});
beforeEach(({ onTestFailed }) => onTestFailed(() => console.error(cluster.logs())));
afterAll(async () => {
  await cluster.stop();
  await receiver.stop();
});

const begin = async (path: string): Promise<string> => {
  const webhook = { url: receiver.url(path) };
  return (await client.runs.start("answers", { webhook })).run.runId;
};

const delivered = (runId: string) =>
  until(
    async () => (await client.webhooks.deliveries({ runId, states: ["delivered"] })).deliveries[0],
    { what: `the delivery of run ${runId}` },
  );

test("an executor that dies between its call and the record is replaced, and the same id is sent again (S4.6)", async () => {
  const [executor] = cluster.executors;
  await executor?.kill("SIGKILL");
  await executor?.restart(failpoints("webhook.called=kill"));
  const runId = await begin("twice");
  const first = await receiver.received("twice");
  expect(await executor?.exited()).toBe("SIGKILL");
  await executor?.restart();
  const second = await receiver.received("twice", 2);
  expect(second.id).toBe(first.id);
  expect(second.body).toBe(first.body);
  expect((await delivered(runId)).attempts).toBe(1);
  expect(await checkInvariants(cluster.databaseUrl, [runId])).toEqual([]);
});

test.each(["tick.before-commit-of-end", "tick.after-commit"])(
  "the webhook of an end survives the death of its scheduler at %s (S4.6)",
  async (point) => {
    await cluster.schedulers[0]?.kill("SIGKILL");
    const doomed = await replaceScheduler(cluster, {
      ...{ ...SINK_EGRESS, ...failpoints(`${point}=kill`) },
    });
    const begun = begin(point);
    expect(await doomed.exited()).toBe("SIGKILL");
    await cluster.schedulers[0]?.restart();
    const runId = await begun;
    const { deliveryId } = await delivered(runId);
    expect((await receiver.received(point)).id).toBe(deliveryId);
    expect(await checkInvariants(cluster.databaseUrl, [runId])).toEqual([]);
  },
);

test("an executor that stops gives a call back that does not end in time, and another one makes it (S4.37)", async () => {
  const [executor] = cluster.executors;
  await executor?.stop();
  await executor?.restart({ PAWL_EXECUTOR_GRACE_MS: "50" });
  const runId = await begin("slow");
  const { id } = await receiver.received("slow");
  await executor?.stop();
  await executor?.restart();
  expect((await receiver.received("slow", 2)).id).toBe(id);
  const { attempts } = await delivered(runId);
  expect(attempts).toBe(1);
  const { attempts: calls } = await client.webhooks.delivery(id);
  expect(calls).toHaveLength(1);
  for (const response of held.splice(0)) response.destroy();
});

test("without an executor a delivery says what it waits for, and is made when one is here (S4.44)", async () => {
  const [executor] = cluster.executors;
  await executor?.stop();
  const runId = await begin("later");
  const waiting = await until(
    async () => (await client.webhooks.deliveries({ runId })).deliveries[0],
    { what: "the delivery" },
  );
  expect(waiting.waitingReason).toContain("No connected executor makes webhook calls");
  await executor?.restart();
  await delivered(runId);
  expect(receiver.calls.filter(({ path }) => path === "later")).toHaveLength(1);
});

test("a receiver that does not answer delays no run, and no other receiver (S4.6)", async () => {
  await client.webhooks.create("silent", { url: receiver.url("silent"), byReference: true });
  // More calls than the executor has slots.
  const begun = Array.from({ length: 20 }, () =>
    client.runs.start("answers", { webhook: { endpointId: "silent" } }),
  );
  const runs = await Promise.all(begun);
  const ends = await Promise.all(runs.map(({ run }) => client.runs.result(run.runId)));
  expect(new Set(ends.map(({ status }) => status))).toEqual(new Set(["completed"]));
  await receiver.received("silent", 8);
  await client.runs.start("answers", { webhook: { url: receiver.url("beside") } });
  await receiver.received("beside");
  const pending = { endpointId: "silent", states: ["pending"], pageSize: 50 } as const;
  const { deliveries } = await client.webhooks.deliveries(pending);
  expect(deliveries).toHaveLength(20);
  expect(new Set(deliveries.map(({ attempts }) => attempts))).toEqual(new Set([0]));
  isSilent = false;
  for (const response of held.splice(0)) response.end();
});

test("a webhook whose host resolves to an address that may not be called is dead with the reason, and no byte arrives (U1)", async () => {
  const [executor] = cluster.executors;
  await executor?.stop();
  // The scheduler accepts the name. The executor alone resolves it.
  await executor?.restart({ PAWL_ALLOW_PRIVATE_EGRESS: "10.0.0.0/8" });
  const url = receiver.url("private").replace("127.0.0.1", "localhost");
  const { run } = await client.runs.start("answers", { webhook: { url } });
  const dead = await until(
    async () => {
      const asked = { runId: run.runId, states: ["dead"] } as const;
      return (await client.webhooks.deliveries(asked)).deliveries[0];
    },
    { what: "the end of the delivery" },
  );
  expect(dead).toMatchObject({
    attempts: 1,
    error: "the host resolves to an address that may not be called",
  });
  expect(receiver.calls.some(({ path }) => path === "private")).toBe(false);
});
