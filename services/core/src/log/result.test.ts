import { expect, test } from "vitest";
import { failed, sketch, startToyRun } from "../../test/toy-run.ts";
import type { Outcome } from "../plan/result.ts";
import { onCancel, onDeadline } from "../plan/stop.ts";
import { resultJson, runResult, webhookBody } from "./result.ts";

const begun = () => {
  const run = startToyRun(sketch([{ id: "a", timeout_ms: 1_000 }, "b"], ["a>b"]));
  run.claim("a");
  return run;
};
const exceptionOf = (run: ReturnType<typeof begun>) => runResult(run.state, "w").exception;

test("the exception of a failed run has the cause, the class and the details of its node (S4.18)", () => {
  const run = begun();
  const details = '{"code":1.0}';
  run.report("a", { ...failed("acme.declined", true), detailsJson: details } as Outcome);
  expect(exceptionOf(run)).toEqual({
    ...{ cause: "acme.declined", failureClass: "permanent", nodeId: "a", details },
    message: "node a failed: it broke: acme.declined",
  });
  const body = resultJson(runResult(run.state, "w"));
  expect(body).toContain(`"details":${details}`);
  expect(JSON.parse(body)).toMatchObject({
    exception: { failure_class: "permanent", node_id: "a", details: { code: 1 } },
  });
});

test.each([
  ["a plain cancel", undefined, "cancelled", "cancelled"],
  ["an interrupt", "interrupt", "interrupted", "interrupt"],
  ["a rollback", "rollback", "rolled_back", "rollback"],
] as const)(
  "%s has a cause and a class of its own (S4.13, S4.14)",
  (_what, stop, cause, failureClass) => {
    const run = begun();
    const cancelled = onCancel(run.state, { reason: "enough", requestId: "", stop, now: 5 });
    if (cancelled.kind === "accepted") cancelled.facts.forEach(run.append);
    expect(run.state.status).toBe("cancelled");
    expect(exceptionOf(run)).toMatchObject({ cause, failureClass, message: "enough" });
  },
);

test("the deadline of a run is no timeout of a node, and both are limits of Pawl (S4.13, S4.32)", () => {
  const late = begun();
  const over = onDeadline(late.state, late.state.deadlineAt);
  if (over.kind === "accepted") over.facts.forEach(late.append);
  expect(exceptionOf(late)).toMatchObject({ cause: "deadline_passed", failureClass: "timeout" });
  const slow = begun();
  slow.report("a", failed("timeout"));
  expect(exceptionOf(slow)).toMatchObject({ cause: "timeout", failureClass: "timeout" });
  const own = begun();
  own.report("a", failed("user_timeout"));
  expect(exceptionOf(own)).toMatchObject({ cause: "user_timeout", failureClass: "user_timeout" });
});

test("the exception names the node that failed the run, not another one that failed before it", () => {
  const fatal = { id: "b", error_handling: "fail_workflow" };
  const run = startToyRun(sketch(["a", fatal], []));
  run.fail("a", "rate_limit");
  run.fail("b", "acme.declined");
  expect(exceptionOf(run)).toMatchObject({ nodeId: "b", cause: "acme.declined" });
});

test("a run that lives or completed has no exception", () => {
  const run = begun();
  expect(exceptionOf(run)).toBeUndefined();
  expect(resultJson(runResult(run.state, "w"))).not.toContain("exception");
});

test("the body of a webhook names its event and the last event that its record knows, and has the delivery as it was before the first call (S4.18)", () => {
  const event = {
    ...{ deliveryId: "d", eventType: "run.started", eventId: 1, nodeId: "", iteration: 0, at: 0 },
    ...{ result: '{"run_id":"r"}', runStartedAt: null, runEndedAt: null },
  };
  const body = JSON.parse(webhookBody({ ...event, lastEventId: 4 }));
  expect(body.data.event_id).toBe(1);
  expect(body.data.result).toMatchObject({ run_id: "r", last_event_id: 4 });
  expect(body.data.result.webhooks).toEqual([
    {
      ...{ delivery_id: "d", event_type: "run.started", state: "pending" },
      ...{ attempts: 0, status_code: 0, error: "" },
    },
  ]);
  const old = JSON.parse(webhookBody({ ...event, lastEventId: null }));
  expect(old.data.result.last_event_id).toBe(1);
});
