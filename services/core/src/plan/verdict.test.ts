import { expect, test } from "vitest";
import { sketch, startToyRun } from "../../test/toy-run.ts";

test("a run completes when every leaf is completed or skipped (S1.22)", () => {
  const run = startToyRun(sketch(["a", "b", "c"], ["a>b", "a:other>c"]));
  run.complete("a");
  run.complete("b");
  expect(run.node("c").status).toBe("skipped");
  expect(run.state).toMatchObject({ status: "completed", hasFailures: false });
});

test("a failed middle node over well leaves completes with has_failures (S1.22, X9)", () => {
  const run = startToyRun(
    sketch(["a", "b", { id: "c", on_parent_failure: "substitute_default" }], ["a>b", "b>c"]),
  );
  run.complete("a");
  run.fail("b");
  run.complete("c");
  expect(run.state).toMatchObject({ status: "completed", hasFailures: true });
});

test("a run is cancelled when a node was cancelled and none failed (S1.22)", () => {
  const run = startToyRun(sketch(["a", "b", "c"], ["a>b", "a>c"]));
  run.complete("a");
  run.fail("b", "cancelled");
  run.complete("c");
  expect(run.state.status).toBe("cancelled");
});

test("a failure outweighs a cancellation, and the first failed node is named (S1.22)", () => {
  const run = startToyRun(sketch(["a", "b", "c", "d"], ["a>b", "a>c", "b>d"]));
  run.complete("a");
  run.fail("c", "cancelled");
  run.fail("b");
  expect(run.node("d").status).toBe("failed");
  expect(run.state).toMatchObject({
    status: "failed",
    message: "node b failed: it broke: provider_error",
  });
  expect(run.events.at(-1)?.payload).toMatchObject({ failedNodeId: "b" });
});

test("the verdict waits for the last node (S1.22)", () => {
  const run = startToyRun(sketch(["a", "b", "c"], ["a>b", "a>c"]));
  run.complete("a");
  run.fail("b");
  expect(run.state.status).toBe("running");
  run.complete("c");
  expect(run.state.status).toBe("failed");
});
