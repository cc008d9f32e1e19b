import { expect, test } from "vitest";
import {
  type BulkFacts,
  type BulkOptions,
  type BulkProgress,
  canaryOf,
  judgeCanary,
  nextStep,
  whySkipped,
} from "./bulk.ts";

const OPTIONS: BulkOptions = {
  ...{ canaryRuns: 0, canaryPercent: 0, autoContinue: false, perSecond: 50 },
  ...{ abortFailed: null, abortPercent: 0, compensate: null, latest: false },
  ...{ fromNodes: [], keepEffects: false, by: "", reason: "" },
};

const progress = (change: Partial<BulkProgress>): BulkProgress => ({
  ...{ state: "running", options: OPTIONS, matched: 100, canary: 0, done: 0, failed: 0 },
  ...{ skipped: 0, ...change },
});

const facts = (change: Partial<BulkFacts>): BulkFacts => ({
  ...{ status: "failed", stop: null, hasLetters: false, isRepaired: false },
  ...{ hasParent: false, hasLiveChild: false, ...change },
});

test("an action applies to the runs that the single command accepts, and each other run has a reason", () => {
  const cases: [Parameters<typeof whySkipped>[0], Partial<BulkFacts>, string | undefined][] = [
    ["cancel", { status: "waiting" }, undefined],
    ["cancel", { status: "completed" }, "ended"],
    ["pause", { status: "running" }, undefined],
    ["pause", { status: "paused" }, "paused_already"],
    ["pause", { status: "failed" }, "ended"],
    ["resume", { status: "paused" }, undefined],
    ["resume", { status: "running" }, "not_paused"],
    ["resume", { status: "cancelled" }, "ended"],
    ["resume", { status: "cancelled", stop: "interrupt" }, undefined],
    ["resume", { status: "cancelled", stop: "interrupt", isRepaired: true }, "repaired_already"],
    ["retry", {}, undefined],
    ["retry", { status: "completed" }, "completed"],
    ["retry", { status: "running" }, "live"],
    ["retry", { isRepaired: true }, "repaired_already"],
    ["repair", { status: "completed" }, undefined],
    ["repair", { status: "paused" }, "live"],
    ["redrive", { hasLetters: true }, undefined],
    ["redrive", { hasLetters: true, status: "running" }, "live"],
    ["redrive", {}, "no_dead_letter"],
    ["delete", {}, undefined],
    ["delete", { status: "running" }, "live"],
    ["delete", { hasParent: true }, "child_of_a_run"],
    ["delete", { hasLiveChild: true }, "child_live"],
  ];
  for (const [action, change, reason] of cases)
    expect(whySkipped(action, facts(change)), `${action} ${JSON.stringify(change)}`).toBe(reason);
});

test("a canary is a number or a share of the runs, and never more than all", () => {
  expect(canaryOf({ canaryRuns: 5, canaryPercent: 0 }, 100)).toBe(5);
  expect(canaryOf({ canaryRuns: 5, canaryPercent: 0 }, 3)).toBe(3);
  expect(canaryOf({ canaryRuns: 0, canaryPercent: 1 }, 30)).toBe(1);
  expect(canaryOf({ canaryRuns: 0, canaryPercent: 0 }, 30)).toBe(0);
});

test("a step never takes so many runs that more fail than one above the limit", () => {
  const options = { ...OPTIONS, abortFailed: 2 };
  const before = nextStep(progress({ options, failed: 1 }));
  expect(before).toEqual({ kind: "act", limit: 2, upTo: 100 });
  expect(nextStep(progress({ options, failed: 2 }))).toMatchObject({ limit: 1 });
  const after = nextStep(progress({ options, failed: 3 }));
  expect(after).toEqual({ kind: "abort", reason: "3 runs failed; the limit is 2" });
  expect(nextStep(progress({ options: { ...options, abortFailed: 0 }, failed: 1 })).kind).toBe(
    "abort",
  );
});

test("a share of failures is judged from the twentieth run on, and behind the canary", () => {
  const options = { ...OPTIONS, abortPercent: 10 };
  expect(nextStep(progress({ options, done: 9, failed: 9 })).kind).toBe("act");
  expect(nextStep(progress({ options, done: 18, failed: 2 })).kind).toBe("act");
  expect(nextStep(progress({ options, done: 17, failed: 3 })).kind).toBe("abort");
  const canary = { options, state: "canary", canary: 2 } as const;
  expect(nextStep(progress({ ...canary, failed: 1 })).kind).toBe("act");
  expect(nextStep(progress({ ...canary, done: 1, failed: 1 })).kind).toBe("abort");
});

test("a bulk rests behind its canary, completes with its last run, and finishes what it began when it is stopped", () => {
  const canary = { state: "canary", canary: 3 } as const;
  expect(nextStep(progress({ ...canary, done: 1 }))).toMatchObject({ kind: "act", upTo: 3 });
  expect(nextStep(progress({ ...canary, done: 2, skipped: 1 })).kind).toBe("judge_canary");
  expect(nextStep(progress({ state: "waiting" })).kind).toBe("rest");
  expect(nextStep(progress({ done: 99, skipped: 1 })).kind).toBe("complete");
  expect(nextStep(progress({ matched: 0 })).kind).toBe("complete");
  const finish = { kind: "finish", limit: 50, upTo: 100 };
  expect(nextStep(progress({ state: "stopped", done: 5 }))).toEqual(finish);
  expect(nextStep(progress({ state: "aborted", failed: 5 })).kind).toBe("finish");
});

test("behind a canary a person decides, or the bulk continues when all its new runs completed", () => {
  const canary = { state: "canary", canary: 3, done: 3 } as const;
  const asked = progress(canary);
  const alone = progress({ ...canary, options: { ...OPTIONS, autoContinue: true } });
  const whole = { live: 0, lost: 0 };
  expect(judgeCanary(asked, whole).kind).toBe("wait");
  expect(judgeCanary(alone, whole).kind).toBe("continue");
  expect(judgeCanary(alone, { live: 1, lost: 0 }).kind).toBe("later");
  expect(judgeCanary(alone, { live: 1, lost: 1 }).kind).toBe("wait");
  expect(judgeCanary({ ...alone, done: 2, failed: 1 }, whole).kind).toBe("wait");
});
