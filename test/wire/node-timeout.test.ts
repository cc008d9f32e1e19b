// A node's timeout and the causes that are never retried hold against every executor. An executor that renews and never answers loses its
// claim, and a blocked input that an executor calls retryable gets no second try.
import type { Claim } from "@pawl/proto/pawl/worker/v1/worker_service_pb";
import { afterEach, expect, test } from "vitest";
import { checkInvariants } from "../support/invariants.ts";
import { until } from "../support/until.ts";
import { completed, connectExecutor, type FakeExecutor, TASK } from "./fake-executor.ts";
import { useStage } from "./stage.ts";

const SLOW = "slow";
const BLOCKED = "blocked";

const stage = useStage(undefined, async ({ door }) => {
  const retry = { attempts: 2, backoff_ms: 0, retry_on: ["timeout", "provider_error"] };
  for (const [workflowId, timeout] of [
    [SLOW, { timeout_ms: 100 }],
    [BLOCKED, {}],
  ] as const) {
    const nodes = [
      { id: "start", type: "start" },
      { id: "a", type: TASK, retry, ...timeout },
    ];
    const text = JSON.stringify({ nodes, edges: [{ source: "start", target: "a" }] });
    await door("gRPC").workflows.createWorkflow({ workflowId, definition: { text } });
  }
});

const open: FakeExecutor[] = [];
afterEach(async () => {
  for (const executor of open.splice(0)) await executor.leave();
});

async function registered(): Promise<FakeExecutor> {
  const executor = connectExecutor(`127.0.0.1:${stage().cluster.schedulers[0]?.port}`);
  open.push(executor);
  await executor.register();
  return executor;
}

async function started(workflowId: string): Promise<string> {
  const { run } = await stage().door("gRPC").runs.startRun({ workflowId });
  return run?.runId ?? "";
}

/** The types of the node's events, in order. */
async function typesOf(runId: string): Promise<string[]> {
  const { rows } = await stage().db.query<{ type: string }>(
    "select type from pawl.run_events where run_id = $1 and node_id = 'a' order by seq",
    [runId],
  );
  return rows.map(({ type }) => type);
}

/** Renews for as long as the claim is held, and asks for more time, but never answers. */
async function holdUntilLost(executor: FakeExecutor, claim: Claim): Promise<Claim | undefined> {
  executor.say({ case: "extend", value: { claim, extendMs: 3_600_000n } } as never);
  return await until(
    () => {
      executor.say({ case: "renew", value: { held: [claim] } } as never);
      return executor.heard("claimLost").find((lost) => lost?.claim?.epoch === claim.epoch)?.claim;
    },
    { what: "the claim to be lost", timeoutMs: 40_000 },
  );
}

test("an executor that renews and extends but never answers loses its claim to the node's timeout, and its word after it (S1.31)", async () => {
  const executor = await registered();
  const runId = await started(SLOW);
  const { claim } = await executor.assigned(runId);
  expect(await holdUntilLost(executor, claim)).toEqual(claim);
  await executor.hear("assignment", 2);
  const second = await executor.assigned(runId);
  expect(second.attempt).toBe(2);
  const retried = ["node.queued", "node.started", "node.retried", "node.queued", "node.started"];
  expect(await typesOf(runId)).toEqual(retried);
  executor.say(completed(claim, '"late"'));
  await until(() => executor.heard("claimLost").length >= 2, { what: "the refusal" });
  expect(await typesOf(runId)).toEqual(retried);
  executor.say(completed(second.claim, '"in time"'));
  await executor.hear("settled");
  expect(await typesOf(runId)).toEqual([...retried, "node.completed"]);
  expect(await checkInvariants(stage().cluster.databaseUrl, [runId])).toEqual([]);
});

test("a cause that is never retried is not, although its executor calls it retryable", async () => {
  const executor = await registered();
  const runId = await started(BLOCKED);
  const { claim } = await executor.assigned(runId);
  const value = { cause: "moderation_blocked", message: "try again", permanent: false };
  executor.say(completed(claim, "null", { result: { case: "failed", value } } as never));
  await executor.hear("settled");
  expect(await typesOf(runId)).toEqual(["node.queued", "node.started", "node.failed"]);
});
