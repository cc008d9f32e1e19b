import { expect, test } from "vitest";
import { completed, EXECUTOR, sketch, startToyRun } from "../../test/toy-run.ts";
import { LIMITS } from "../data/limits.ts";
import { executorId } from "../name/ids.ts";
import { claimLimitMs, onOverdue } from "./overdue.ts";

/** A run whose only node is claimed; `end` ends that claim as the scheduler does. */
function claimed(node: Readonly<Record<string, unknown>> = {}) {
  const run = startToyRun(sketch([{ id: "a", timeout_ms: 2_000, ...node }], []));
  const epoch = run.claim("a");
  const claim = { nodeIndex: 0, iteration: 0, epoch, executorId: EXECUTOR, now: run.now };
  const end = (over: Partial<typeof claim> = {}): string => {
    const result = onOverdue(run.state, { ...claim, ...over });
    if (result.kind === "accepted") result.facts.forEach(run.append);
    run.plan();
    return result.kind;
  };
  return { run, epoch, end };
}

test("a claim past its timeout ends as a timeout, and its executor's later outcome is stale", () => {
  const { run, epoch, end } = claimed();
  expect(end()).toBe("accepted");
  expect(run.node("a")).toMatchObject({ status: "timed_out" });
  expect(run.report("a", completed(), epoch)).toEqual({ kind: "stale" });
  expect(end()).toBe("stale");
});

test("the node's policy decides about another attempt, and its error handling about the next nodes", () => {
  const retried = claimed({ retry: { attempts: 2, retry_on: ["timeout"] } });
  retried.end();
  expect(retried.run.events.at(-2)).toMatchObject({
    type: "node.retried",
    payload: { cause: "timeout" },
  });
  expect(retried.run.node("a")).toMatchObject({ status: "queued", attempt: 2 });
  expect(retried.run.report("a", completed(), retried.epoch)).toEqual({ kind: "stale" });
  const otherwise = claimed({ retry: { attempts: 2, retry_on: ["rate_limit"] } });
  otherwise.end();
  expect(otherwise.run.node("a").status).toBe("timed_out");
  const goesOn = claimed({ error_handling: "continue" });
  goesOn.end();
  expect(goesOn.run.node("a")).toMatchObject({ status: "completed", handle: "error" });
});

test("only the live claim of its own executor is ended", () => {
  const { run, epoch, end } = claimed();
  const stranger = executorId("0199a000-0000-7000-8000-0000000000e2");
  expect(end({ epoch: epoch + 1 })).toBe("stale");
  expect(end({ executorId: stranger })).toBe("stale");
  expect(end({ nodeIndex: 7 })).toBe("stale");
  expect(run.node("a").status).toBe("running");
});

test("a claim may last as long as its timeout and a grace, and longer where its node is moderated", () => {
  const plain = 2_000 + LIMITS.timeoutGraceMs;
  expect(claimLimitMs(claimed().run.state, 0, 0)).toBe(plain);
  const moderated = claimed({ moderation: "input" }).run.state;
  expect(claimLimitMs(moderated, 0, 0)).toBe(plain + LIMITS.moderationGraceMs);
});
