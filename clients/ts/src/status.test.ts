import { RunStatus } from "@pawl/proto/pawl/v1/run_pb";
import { expect, test } from "vitest";
import { isFinalStatus, RUN_STATUS_NAMES, runStatusOf } from "./status.ts";

test("a run's status has one name, and other words lead to it (X8)", () => {
  for (const name of RUN_STATUS_NAMES) expect([name, runStatusOf(name)]).not.toContain(undefined);
  expect(runStatusOf("success")).toBe(RunStatus.COMPLETED);
  expect(runStatusOf("error")).toBe(RunStatus.FAILED);
  expect(runStatusOf("interrupted")).toBe(RunStatus.CANCELLED);
  expect(runStatusOf("rollback")).toBe(RunStatus.CANCELLED);
  expect(runStatusOf("timed_out")).toBe(RunStatus.TIMEOUT);
  expect(runStatusOf("dreaming")).toBeUndefined();
});

test("four statuses are final (S2.30)", () => {
  const final = RUN_STATUS_NAMES.filter((name) =>
    isFinalStatus(runStatusOf(name) ?? RunStatus.UNSPECIFIED),
  );
  expect(final).toEqual(["completed", "failed", "cancelled", "timeout"]);
});
