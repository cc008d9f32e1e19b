import { test } from "vitest";
import { expectTold, type ToldCase } from "../../test/told-case.ts";
import { sketch, startToyRun } from "../../test/toy-run.ts";
import { onCancel } from "../plan/stop.ts";

const TABLE: readonly ToldCase[] = [
  {
    title: "an untaken branch names the condition and the way it left",
    run: () => {
      const run = startToyRun(sketch(["a", "yes", "no"], ["a:yes>yes", "a:no>no"]));
      run.complete("a", null, { handle: "yes" });
      return run;
    },
    node: "no",
    reason: "UNTAKEN_BRANCH",
    says: ["a left by yes, not by no"],
    cites: ["4 node.completed a", "6 node.skipped no"],
  },
  {
    title: "what follows an untaken branch names the skipped parent",
    run: () => {
      const run = startToyRun(sketch(["a", "no", "after"], ["a:no>no", "no>after"]));
      run.complete("a", null, { handle: "yes" });
      return run;
    },
    node: "after",
    reason: "UNTAKEN_BRANCH",
    says: ["no was skipped"],
    cites: ["5 node.skipped no", "6 node.skipped after"],
  },
  {
    title: "a failure that propagated names the parent and the policy",
    run: () => {
      const run = startToyRun(sketch(["a", "b"], ["a>b"]));
      run.fail("a");
      return run;
    },
    node: "b",
    reason: "UPSTREAM_FAILED",
    says: ["a (failed)", "propagate"],
    cites: ["4 node.failed a", "5 node.failed b"],
  },
  {
    title: "a node that skips on a failed parent names both",
    run: () => {
      const run = startToyRun(sketch(["a", { id: "b", on_parent_failure: "skip" }], ["a>b"]));
      run.fail("a", "timeout");
      return run;
    },
    node: "b",
    reason: "PARENT_NOT_COMPLETED",
    says: ["a (timed_out)", "skip"],
    cites: ["4 node.timed_out a", "5 node.skipped b"],
  },
  {
    title: "a node behind one that was skipped after a failure names it and its own policy",
    run: () => {
      const skips = { id: "b", on_parent_failure: "skip" };
      const run = startToyRun(sketch(["a", skips, "c"], ["a>b", "b>c"]));
      run.fail("a", "timeout");
      return run;
    },
    node: "c",
    reason: "PARENT_NOT_COMPLETED",
    says: ["b (skipped)", "propagate"],
    cites: ["5 node.skipped b", "6 node.skipped c"],
  },
  {
    title: "a failure says which attempt failed with what",
    run: () => {
      const run = startToyRun(sketch(["a"], []));
      run.fail("a", "boom");
      return run;
    },
    node: "a",
    reason: "FAILED",
    says: ["Attempt 1 of 1 failed with boom: it broke: boom"],
    cites: ["3 node.started a", "4 node.failed a"],
  },
  {
    title: "a timeout says the limit",
    run: () => {
      const run = startToyRun(sketch([{ id: "a", timeout_ms: 1_500 }], []));
      run.fail("a", "timeout");
      return run;
    },
    node: "a",
    reason: "TIMED_OUT",
    says: ["1.5 s"],
    cites: ["3 node.started a", "4 node.timed_out a"],
  },
  {
    title: "a node that killed its executors says how often",
    run: () => {
      const run = startToyRun(sketch(["a"], []));
      for (let turn = 0; turn < 3; turn++) {
        run.claim("a");
        run.lose("a");
      }
      return run;
    },
    node: "a",
    reason: "DELIVERY_EXHAUSTED",
    says: ["3 times"],
    cites: ["10 run.recovered a", "11 node.failed a"],
  },
  {
    title: "a failure that was handled says what it was",
    run: () => {
      const run = startToyRun(sketch([{ id: "a", error_handling: "continue" }], []));
      for (let turn = 0; turn < 3; turn++) {
        run.claim("a");
        run.lose("a");
      }
      return run;
    },
    node: "a",
    reason: "COMPLETED",
    says: ["It failed with delivery_exhausted: run", "lost 3 deliveries", "handle error"],
    cites: ["9 node.started a", "10 run.recovered a", "11 node.completed a"],
  },
  {
    title: "a cancelled node says why and cites the end of the run",
    run: () => {
      const run = startToyRun(sketch(["a"], []));
      const stop = onCancel(run.state, { reason: "not needed", requestId: "", now: 0 });
      if (stop.kind === "accepted") stop.facts.forEach(run.append);
      return run;
    },
    node: "a",
    reason: "CANCELLED",
    says: ["not needed"],
    cites: ["3 node.cancelled a", "4 run.cancelled "],
  },
  {
    title: "a completed node says by which handle it left",
    run: () => {
      const run = startToyRun(sketch(["a", "b"], ["a:x>b"]));
      run.complete("a", 1, { handle: "x" });
      return run;
    },
    node: "a",
    reason: "COMPLETED",
    says: ["Attempt 1 completed in 1 ms and left by handle x"],
    cites: ["3 node.started a", "4 node.completed a"],
  },
];

test.each(TABLE)("$title", expectTold);
