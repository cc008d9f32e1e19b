import { expect, test } from "vitest";
import { completed, EXECUTOR, failed, sketch, startToyRun } from "../../test/toy-run.ts";
import { LIMITS } from "../data/limits.ts";
import { executorId } from "../name/ids.ts";
import { onOutcome } from "./arrive.ts";
import type { Outcome } from "./result.ts";

const one = (node: Readonly<Record<string, unknown>> = {}) => {
  const run = startToyRun(sketch([{ id: "a", ...node }], []));
  run.claim("a");
  return run;
};

test("a result of the live claim settles the node (S1.20)", () => {
  const run = one();
  expect(run.report("a", completed({ ok: true })).kind).toBe("accepted");
  expect(run.node("a")).toMatchObject({ status: "completed", output: '{"ok":true}' });
});

test("a result that was accepted before is a duplicate (S3.4, S3.53)", () => {
  const run = one();
  const { epoch } = run.node("a");
  run.report("a", completed());
  expect(run.report("a", completed(), epoch)).toEqual({ kind: "duplicate" });
  const retried = one({ retry: { attempts: 2 } });
  const first = retried.node("a").epoch;
  retried.report("a", failed());
  expect(retried.report("a", failed(), first)).toEqual({ kind: "duplicate" });
});

test("a result under another epoch is stale and changes nothing (S0.43)", () => {
  const run = one();
  const lost = run.node("a").epoch;
  run.lose("a");
  expect(run.report("a", completed(), lost)).toEqual({ kind: "stale" });
  const live = run.claim("a");
  expect(live).toBeGreaterThan(lost);
  for (const epoch of [lost, 0, -1, live + 1])
    expect(run.report("a", completed(), epoch)).toEqual({ kind: "stale" });
  expect(run.node("a").status).toBe("running");
});

test("a result of another executor under the live epoch is stale, and the holder can still report", () => {
  const run = one();
  const { epoch } = run.node("a");
  const stranger = executorId("0199a000-0000-7000-8000-0000000000e2");
  const arrival = { nodeIndex: 0, iteration: 0, epoch, outcome: completed(), jitter: 0, now: 0 };
  expect(onOutcome(run.state, { ...arrival, executorId: stranger })).toEqual({ kind: "stale" });
  expect(onOutcome(run.state, { ...arrival, executorId: EXECUTOR }).kind).toBe("accepted");
});

test("a result for an unknown node or another iteration is stale", () => {
  const run = one();
  const arrival = {
    iteration: 0,
    epoch: run.node("a").epoch,
    executorId: EXECUTOR,
    outcome: completed(),
    jitter: 0,
    now: 0,
  };
  expect(onOutcome(run.state, { ...arrival, nodeIndex: 99 })).toEqual({ kind: "stale" });
  expect(onOutcome(run.state, { ...arrival, nodeIndex: 0, iteration: 1 })).toEqual({
    kind: "stale",
  });
});

test("a result that arrives after a cancel is stale, not a duplicate", () => {
  const run = startToyRun(
    sketch([{ id: "a" }, { id: "b", error_handling: "fail_workflow" }, "c"], ["a>b", "a>c"]),
  );
  run.complete("a");
  const epoch = run.claim("c");
  run.fail("b");
  expect(run.node("c").status).toBe("cancelled");
  expect(run.report("c", completed(), epoch)).toEqual({ kind: "stale" });
});

test("a failure within the policy is retried after its backoff (S1.19, S1.26, S1.29)", () => {
  const run = one({ retry: { attempts: 2, backoff_ms: 400, retry_on: ["contract_violated"] } });
  run.report("a", failed("contract_violated"));
  expect(run.events.slice(-2)).toMatchObject([
    { type: "node.retried", attempt: 1, payload: { cause: "contract_violated", delayMs: 400 } },
    { type: "node.queued", attempt: 2, payload: { notBefore: run.now + 400 } },
  ]);
  run.fail("a", "contract_violated");
  expect(run.node("a").status).toBe("failed");
});

test("a retry waits as long as the provider asked for, if the policy retries at all (S1.29, S1.30)", () => {
  const busy = { ...failed("rate_limit"), retryAfterMs: 9_000 };
  const run = one({ retry: { attempts: 2, backoff_ms: 400 } });
  run.report("a", busy);
  expect(run.events.slice(-2)).toMatchObject([
    { type: "node.retried", payload: { cause: "rate_limit", delayMs: 9_000 } },
    { type: "node.queued", payload: { notBefore: run.now + 9_000 } },
  ]);
  const strict = one({ retry: { attempts: 2, retry_on: ["timeout"] } });
  strict.report("a", busy);
  expect(strict.node("a").status).toBe("failed");
});

test("tokens a model counted are in the log (S1.58)", () => {
  const run = one();
  const usage = { inputTokens: 3, outputTokens: 5 };
  run.report("a", { kind: "completed", outputJson: "1", durationMs: 1, usage });
  expect(run.events.find((event) => event.type === "node.completed")?.payload).toMatchObject({
    usage: { inputTokens: 3, outputTokens: 5 },
  });
});

test("the findings of the checks enter the log with the outcome, before it (S1.47)", () => {
  const run = one();
  const checks = [{ type: "contract.violated", phase: "output", detailsJson: "[1]" }] as const;
  run.report("a", { ...failed("output_contract_violation"), checks });
  const [check, end] = run.events.slice(-3);
  expect(check).toMatchObject({
    type: "contract.violated",
    nodeId: "a",
    payload: { phase: "output" },
    value: "[1]",
  });
  expect(end).toMatchObject({
    type: "node.failed",
    epoch: check?.epoch,
    payload: { cause: "output_contract_violation" },
  });
});

test("an output that breaks its contract is retried when the policy names contract_violated only (S1.19, S1.29)", () => {
  for (const [cause, status] of [
    ["contract_violated", "queued"],
    ["provider_error", "failed"],
  ]) {
    const run = one({ retry: { attempts: 2, backoff_ms: 1, retry_on: [cause] } });
    run.report("a", failed("output_contract_violation"));
    expect(run.node("a").status).toBe(status);
  }
});

test("a timeout is a retryable cause, and names itself when attempts run out (S1.17, S1.32)", () => {
  const run = one({ retry: { attempts: 2, retry_on: ["timeout"] }, timeout_ms: 250 });
  run.report("a", failed("timeout"));
  expect(run.node("a").status).toBe("queued");
  run.fail("a", "timeout");
  const message: unknown = expect.stringMatching(/^timed out after 250 ms \(/);
  expect(run.node("a")).toMatchObject({ status: "timed_out", message });
});

test("a cause outside retry_on, or a permanent failure, is not retried (S1.29)", () => {
  const run = one({ retry: { attempts: 3, retry_on: ["timeout"] } });
  run.report("a", failed("rate_limit"));
  expect(run.node("a").status).toBe("failed");
  const permanent = one({ retry: { attempts: 3 } });
  permanent.report("a", failed("provider_error", true));
  expect(permanent.node("a").status).toBe("failed");
});

test("a retriable failure returns to the queue unsettled, and a permanent one is stored with its class (S4.16, S4.33)", () => {
  const run = one({ retry: { attempts: 2 } });
  run.report("a", failed("acme.busy"));
  expect(run.node("a")).toMatchObject({ status: "queued", settledAt: undefined, attempt: 2 });
  run.claim("a");
  run.report("a", { ...failed("acme.declined", true), detailsJson: "[1]" } as Outcome);
  expect(run.node("a")).toMatchObject({
    status: "failed",
    failure: { cause: "acme.declined", failureClass: "permanent", details: "[1]" },
  });
  expect(run.state.failure).toEqual({ ...run.node("a").failure, nodeId: "a" });
});

test("a cancelled handler is cancelled whatever the policy (S1.31)", () => {
  const run = one({ retry: { attempts: 3 }, error_handling: "continue" });
  run.report("a", failed("cancelled"));
  expect(run.node("a").status).toBe("cancelled");
  expect(run.state.status).toBe("cancelled");
});

test("error_handling continue follows handle error with the error as output (S3.33)", () => {
  const run = startToyRun(sketch(["a", "ok", "oops"], ["a>ok", "a:error>oops"]));
  run.claim("a");
  run.report("a", { ...failed("rate_limit"), detailsJson: '{"status":429}' } as ReturnType<
    typeof failed
  >);
  expect(run.node("a")).toMatchObject({ status: "completed", handle: "error" });
  expect(JSON.parse(run.node("a").output ?? "")).toEqual({
    error: {
      ...{ cause: "rate_limit", failure_class: "retriable", message: "it broke: rate_limit" },
      details: { status: 429 },
    },
  });
  expect(run.node("ok").status).toBe("skipped");
  run.complete("oops");
  expect(run.state).toMatchObject({ status: "completed", hasFailures: true });
});

test("a definition that compares with an old spelling of a cause still gets that spelling", () => {
  const when = `ctx.nodes.a.error.cause == "JS_ERROR"`;
  const branch = { id: "b", type: "condition", config: { branches: [{ id: "js", when }] } };
  for (const [nodes, cause] of [
    [["a", branch], "JS_ERROR"],
    [["a", "b"], "js_error"],
  ] as const) {
    const run = startToyRun(sketch(nodes, ["a:error>b"]));
    run.claim("a");
    run.report("a", failed("js_error", true));
    expect(JSON.parse(run.node("a").output ?? "")).toMatchObject({ error: { cause } });
  }
});

test("a failure that is not handled keeps its cause, message and details (S1.15)", () => {
  const run = one();
  run.report("a", { ...failed("input_contract_violation"), detailsJson: "[1]" } as ReturnType<
    typeof failed
  >);
  expect(run.events.find((event) => event.type === "node.failed")).toMatchObject({
    payload: { cause: "input_contract_violation", message: "it broke: input_contract_violation" },
    value: "[1]",
  });
});

test("an output larger than a value may be fails the node by name", () => {
  const run = one({ retry: { attempts: 3 } });
  run.report("a", completed("x".repeat(LIMITS.valueBytes)));
  expect(run.events.find((event) => event.type === "node.failed")?.payload).toMatchObject({
    cause: "output_too_large",
  });
});

test("every fact an executor caused carries its claim's epoch (S0.42)", () => {
  const run = one({ retry: { attempts: 2 } });
  const first = run.node("a").epoch;
  run.report("a", failed());
  const second = run.claim("a");
  run.report("a", completed());
  const epochs = run.events.filter(
    ({ type }) => /retried|completed/.test(type) && type.startsWith("node"),
  );
  expect(epochs.map((event) => event.epoch)).toEqual([first, second]);
});

test("an executor cannot make a cause retryable that never is", () => {
  for (const cause of ["moderation_blocked", "effect_unknown", "input_contract_violation"]) {
    const run = one({ retry: { attempts: 3 } });
    run.report("a", failed(cause, false));
    expect(run.node("a"), cause).toMatchObject({ status: "failed", attempt: 1 });
  }
});
