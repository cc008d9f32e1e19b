import { CancelReason } from "@pawl/proto/pawl/handler/v1/handler_service_pb";
import { GateKind } from "@pawl/proto/pawl/worker/v1/worker_service_pb";
import { expect, test } from "vitest";
import { ruleSetSchema } from "../checks/rule-set.ts";
import { rulesGateway } from "../checks/rules-gateway.ts";
import type { PeerConnection } from "../work/scheduler-peer.fixture.ts";
import { assigned, setup } from "./host.fixture.ts";
import { HOST_LIMITS } from "./limits.ts";

const outputOf = async (scheduler: PeerConnection): Promise<unknown> => {
  const { result } = await scheduler.heard("outcome");
  if (result.case !== "completed") return result;
  return JSON.parse(Buffer.from(result.value.outputJson).toString());
};

test("a process gets the rendered config, and its result is the outcome", async () => {
  const at = await setup();
  const config = { greeting: "Hello, {{ctx.input.name}}" };
  const { invoke, invocationId, claim } = await assigned(at, { config });
  expect(invoke).toMatchObject({
    type: "acme.echo",
    configJson: '{"greeting":"Hello, Ada"}',
    attempt: 1,
    timeoutMs: 60_000n,
    runId: claim.runId,
    nodeId: "n1",
    effectKey: `${claim.runId}/n1/0`,
  });
  const value = { invocationId, outputJson: '{"said":"Hello, Ada"}', handle: "left" };
  at.process.send({ case: "result", value });
  const outcome = await at.scheduler.heard("outcome");
  expect(outcome.claim).toMatchObject(claim);
  expect(outcome.result).toMatchObject({ case: "completed", value: { handle: "left" } });
});

test("a failure keeps its cause, its wish to wait and its details", async () => {
  const at = await setup();
  const { invocationId } = await assigned(at);
  const facts = { cause: "acme.declined", message: "no money", permanent: true };
  const value = { invocationId, ...facts, retryAfterMs: 50n, detailsJson: '{"code":7}' };
  at.process.send({ case: "failure", value });
  const { result } = await at.scheduler.heard("outcome");
  expect(result).toMatchObject({ case: "failed", value: { ...facts, retryAfterMs: 50n } });
  expect(result.case === "failed" && Buffer.from(result.value.detailsJson).toString()).toBe(
    '{"code":7}',
  );
});

test.each([
  ["not JSON", "{", "output_invalid"],
  ["too large", JSON.stringify("x".repeat(HOST_LIMITS.outputBytes)), "output_too_large"],
])("an output that is %s is a permanent failure", async (_what, outputJson, cause) => {
  const at = await setup();
  const { invocationId } = await assigned(at);
  at.process.send({ case: "result", value: { invocationId, outputJson } });
  const { result } = await at.scheduler.heard("outcome");
  expect(result).toMatchObject({ case: "failed", value: { cause, permanent: true } });
});

test("a handler that ends without an answer violates the contract of handlers", async () => {
  const at = await setup();
  const { invocationId } = await assigned(at);
  at.process.send({ case: "ended", value: { invocationId } });
  const { result } = await at.scheduler.heard("outcome");
  expect(result).toMatchObject({ case: "failed", value: { cause: "contract_violated" } });
});

test("the node's output contract holds for the output of a process", async () => {
  const at = await setup();
  const contracts = { input: null, output: { type: "object", required: ["total"] } };
  const { invocationId } = await assigned(at, { more: { contracts } });
  at.process.send({ case: "result", value: { invocationId, outputJson: "{}" } });
  const { result, gates } = await at.scheduler.heard("outcome");
  expect(result).toMatchObject({ case: "failed", value: { cause: "output_contract_violation" } });
  expect(gates).toMatchObject([{ kind: GateKind.CONTRACT_VIOLATED, phase: "output" }]);
});

test("partial output arrives in order before the outcome, and Streamed counts it", async () => {
  const at = await setup();
  const { invocationId } = await assigned(at);
  const partial = (text: string) =>
    ({ case: "partial", value: { invocationId, piece: { case: "text", value: text } } }) as const;
  at.process.send(partial("a"), partial("b"));
  at.process.send({ case: "log", value: { invocationId, level: 3, message: "careful" } });
  at.process.send(partial("c"));
  let count = 0;
  while (count < 3) ({ count } = await at.process.received("streamed"));
  at.process.send({ case: "result", value: { invocationId, outputJson: "1" } });
  expect(await outputOf(at.scheduler)).toBe(1);
  const said = at.scheduler.items.flatMap(({ case: name, value }) =>
    name === "delta" ? [value.text] : name === "log" ? [`${value.level} ${value.message}`] : [],
  );
  // A log line need not wait for the text before it.
  expect(said.filter((text) => text !== "warn careful").join("")).toBe("abc");
  expect(said).toContain("warn careful");
});

test("a result that comes with its partial output waits for it", async () => {
  const at = await setup();
  const { invocationId } = await assigned(at);
  at.process.send(
    { case: "partial", value: { invocationId, piece: { case: "text", value: "all of it" } } },
    { case: "result", value: { invocationId, outputJson: "2" } },
  );
  expect(await outputOf(at.scheduler)).toBe(2);
  const names = at.scheduler.said;
  expect(names.indexOf("delta")).toBeLessThan(names.indexOf("outcome"));
});

test("a process that does not wait for Streamed loses its stream with the limit, and the host keeps its session", async () => {
  const at = await setup();
  const { invocationId } = await assigned(at);
  const text = "x".repeat(HOST_LIMITS.partialBytes);
  const piece = { case: "text", value: text } as const;
  const item = { case: "partial", value: { invocationId, piece } } as const;
  // The scheduler acknowledges no output, so the host can pass on a megabyte and no more.
  for (let nth = 0; nth < 30; nth += 1) at.process.send(item);
  expect((await at.process.closed()).error).toMatchObject({
    reason: "LIMIT_EXCEEDED",
    metadata: { limit: "window_bytes" },
  });
  await at.seen({ state: 3, busy: 1 });
});

test("moderation stops the stream of a process with BLOCKED, and the outcome is blocked", async () => {
  const rules = ruleSetSchema.parse({ rules: [{ id: "no-secrets", literal: "secret" }] });
  // There is one rule.
  const moderation = rulesGateway(rules as NonNullable<typeof rules>);
  const at = await setup({}, { moderation });
  const more = { moderation: "output", moderationAction: "block" };
  const { invocationId } = await assigned(at, { more });
  const value = "a secret that watchers must not see";
  at.process.send({
    case: "partial",
    value: { invocationId, piece: { case: "text", value } },
  });
  expect(await at.process.received("cancel")).toMatchObject({
    invocationId,
    reason: CancelReason.BLOCKED,
  });
  const { result } = await at.scheduler.heard("outcome");
  expect(result).toMatchObject({ case: "failed", value: { cause: "moderation_blocked" } });
  expect(at.scheduler.said).not.toContain("delta");
});
