// Contracts through the public API of a real trio: a violation fails its node, or the node is tried again if its policy says so.
import { createPawlClient, type PawlClient } from "@pawl/client";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import type { Cluster } from "../support/cluster.ts";
import { sharedCluster } from "../support/shared-cluster.ts";
import { checkInvariants } from "../support/invariants.ts";
import { call, graph, script } from "./graph.ts";
import { startSink, type Sink } from "./sink.ts";
import { runGraph, storyOf } from "./story.ts";

let cluster: Cluster;
let client: PawlClient;
let sink: Sink;

beforeAll(async () => {
  sink = await startSink();
  cluster = await sharedCluster();
  client = createPawlClient({ baseUrl: cluster.url });
});
beforeEach(({ onTestFailed }) => onTestFailed(() => console.error(cluster.logs())));
afterAll(async () => {
  await cluster.stop();
  await sink.stop();
});

const namesAndPayloads = (
  events: readonly { readonly type: string; readonly payload: unknown }[],
) => events.map(({ type, payload }) => [type, payload]);

test("an input that breaks its contract fails the node at once, whatever its policy, and says where (S1.15, S1.47)", async () => {
  const retry = { attempts: 3, backoff_ms: 1 };
  const input = { type: "object", required: ["name"], properties: { name: { type: "string" } } };
  const story = await runGraph(
    client,
    graph(["start > never"], {
      // The output contract is what the policy is for: a start that has none cannot be tried again.
      start: { contracts: { input, output: true }, retry },
      never: call(sink.url("never")),
    }),
    { name: 5 },
  );
  expect(story.status).toBe("failed");
  const errors = [{ path: "input.name", message: "must be string" }];
  expect(namesAndPayloads(story.events.filter(({ nodeId }) => nodeId === "start"))).toMatchObject([
    ["node.queued", {}],
    ["node.started", {}],
    ["contract.violated", { phase: "input", errors }],
    ["node.failed", { cause: "input_contract_violation" }],
  ]);
  expect(story.run.errorMessage).toContain("input_contract_violation: input.name must be string");
  expect(sink.calls.filter(({ name }) => name === "never")).toEqual([]);
});

test("an output that breaks its contract is tried again where the policy names it, and may come right (S1.19, S1.29)", async () => {
  const output = { properties: { body: { required: ["answer"] } } };
  const retry = { attempts: 2, backoff_ms: 1, retry_on: ["contract_violated"] };
  // An effect on record would not be called again: what it gave is what the next attempt gets.
  const url = sink.url("hold-contract");
  const config = { url, method: "POST", effect: "none" };
  const node = call(url, { config, contracts: { output }, retry });
  const { run } = await client.runs.test(graph(["start > asked"], { asked: node }));
  (await sink.received("hold-contract", 1)).answer(200, { wrong: true });
  (await sink.received("hold-contract", 2)).answer(200, { answer: 42 });
  const story = await storyOf(client, run.runId);
  expect(story.status).toBe("completed");
  const [violated] = story.of("contract.violated", "asked");
  const errors = [{ path: "output.body", message: "must have required property 'answer'" }];
  expect(violated).toMatchObject({ attempt: 1, payload: { phase: "output", errors } });
  const [retried] = story.of("node.retried", "asked");
  expect(retried?.payload).toMatchObject({ cause: "contract_violated" });
  expect(retried?.eventId).toBe((violated?.eventId ?? 0) + 1);
  expect(story.outputOf("asked")).toMatchObject({ body: { answer: 42 } });
});

test("an output that breaks its contract fails the node where the policy does not name it (S1.19)", async () => {
  const retry = { attempts: 3, backoff_ms: 1, retry_on: ["provider_error"] };
  const code = "return { text: 'x'.repeat(1000) }";
  const output = { properties: { text: { maxLength: 10 } } };
  const story = await runGraph(
    client,
    graph(["start > wordy"], { wordy: script(code, { contracts: { output }, retry }) }),
  );
  expect(story.of("node.failed", "wordy")[0]).toMatchObject({
    attempt: 1,
    payload: { cause: "output_contract_violation" },
  });
  expect(story.of("contract.violated", "wordy")).toHaveLength(1);
  // An error does not show the value.
  expect(JSON.stringify(story.events)).not.toContain("x".repeat(65));
});

test("a contract that is no schema is refused with the definition, by its place (S1.5)", async () => {
  const contracts = { output: { type: "strng", items: { $ref: "https://example.com/a.json" } } };
  const refused = client.runs.test(graph(["start > a"], { a: { contracts } }));
  await expect(refused).rejects.toMatchObject({
    reason: "DEFINITION_INVALID",
    violations: [
      { path: "definition.nodes[1].contracts.output.type", reason: "CONTRACT_SCHEMA" },
      { path: "definition.nodes[1].contracts.output.items.$ref", reason: "CONTRACT_REF" },
    ],
  });
});

test("the logs of runs with contracts hold as any other (S3.2)", async () => {
  expect(await checkInvariants(cluster.databaseUrl)).toEqual([]);
});
