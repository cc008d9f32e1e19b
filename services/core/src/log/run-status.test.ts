import * as fc from "fast-check";
import { expect, test } from "vitest";
import { play, scenarios } from "../../test/arbitrary-run.ts";
import { playProgram, programs } from "../../test/loop-program.ts";
import { completed, RUN, sketch, startToyRun, type ToyRun } from "../../test/toy-run.ts";
import { FINAL_STATUSES, isFinal, type RunEvent, type RunStatus } from "./event.ts";
import { apply, fold, newRunState, runStatus } from "./fold.ts";
import { mayBecome } from "./run-status.ts";
import { ViewFold } from "./view.ts";

fc.configureGlobal({ seed: 1 });

const ALL: readonly RunStatus[] = [
  ...(["pending", "scheduled", "running", "waiting", "retrying", "paused"] as const),
  ...(["compensating", "completed", "failed", "cancelled", "timeout"] as const),
];

/** The statuses of a run after each event, by both folds. */
function statusesOf({ state, events }: Pick<ToyRun, "state" | "events">): RunStatus[] {
  const [own, view] = [newRunState(RUN, state.graph), new ViewFold()];
  return events.map((event) => {
    apply(own, event);
    view.add(event);
    expect(view.view().status, `event ${event.seq} ${event.type}`).toBe(runStatus(own));
    return runStatus(own);
  });
}

test("a run is scheduled until an executor starts a node, and retrying while only a backoff is left (S2.7, S2.28, S2.29)", () => {
  const run = startToyRun(
    sketch(["start", { id: "a", retry: { attempts: 3 } }, "b"], ["start>a", "start>b"]),
  );
  expect(newRunState(RUN, run.state.graph).status).toBe("pending");
  expect(runStatus(run.state)).toBe("scheduled");
  run.claim("start");
  expect(runStatus(run.state)).toBe("running");
  run.report("start", completed());
  run.fail("a");
  expect(runStatus(run.state)).toBe("running");
  run.complete("b");
  expect(runStatus(run.state)).toBe("retrying");
  run.claim("a");
  expect(runStatus(run.state)).toBe("running");
  run.report("a", completed());
  expect(runStatus(run.state)).toBe("completed");
  const seen = statusesOf(run).filter((status, at, all) => status !== all[at - 1]);
  expect(seen).toEqual(["scheduled", "running", "retrying", "running", "completed"]);
});

test("a lost executor does not make its run retrying: no backoff passes", () => {
  const run = startToyRun(sketch(["start"], []));
  run.claim("start");
  run.lose("start");
  expect(run.execution("start").status).toBe("queued");
  expect(runStatus(run.state)).toBe("running");
});

test("the transitions of the seed are legal, and every final status is final (S2.29, S2.30)", () => {
  const legal = [
    ...["pending scheduled", "scheduled running", "waiting running", "retrying running"],
    ...["retrying failed", "running completed", "running waiting", "running retrying"],
    ...["running cancelled", "running timeout"],
  ];
  for (const pair of legal) {
    const [from, to] = pair.split(" ") as [RunStatus, RunStatus];
    expect(mayBecome(from, to), pair).toBe(true);
  }
  for (const from of FINAL_STATUSES)
    for (const to of ALL) expect(mayBecome(from as RunStatus, to)).toBe(false);
  for (const live of ALL.filter((status) => !isFinal(status)))
    for (const end of ["failed", "cancelled", "timeout"] as const)
      expect(mayBecome(live, end)).toBe(true);
  for (const to of ["pending", "scheduled"] as const)
    expect(ALL.filter((from) => mayBecome(from, to))).toEqual(
      to === "pending" ? ["paused"] : ["pending", "paused"],
    );
});

test("random runs with failures, retries, holds, pauses and lost claims change their status legally, and both folds agree (S2.29, S2.30, X8)", () => {
  const seen = new Set<string>();
  fc.assert(
    fc.property(scenarios(10, { fatal: true }), fc.integer(), (scenario, seed) => {
      const { run } = play(scenario, seed, undefined, { pauses: seed % 2 === 0 });
      checkLegal(statusesOf(run), seen);
    }),
    { numRuns: 200 },
  );
  // The programs reach every status that needs no limit, deadline or compensation.
  for (const status of [
    "scheduled",
    "running",
    "waiting",
    "retrying",
    "paused",
    "completed",
    "failed",
  ])
    expect(seen).toContain(status);
});

test("programs with loops, jumps and maps change their status legally, and both folds agree (S2.29, S2.30)", () => {
  fc.assert(
    fc.property(programs(6), fc.integer(), (program, seed) => {
      const run = playProgram(program, seed, () => undefined);
      checkLegal(statusesOf(run), new Set());
    }),
    { numRuns: 200 },
  );
});

function checkLegal(statuses: readonly RunStatus[], seen: Set<string>): void {
  let before: RunStatus = "pending";
  statuses.forEach((status, at) => {
    seen.add(status);
    if (status !== before) expect(mayBecome(before, status), `${before} to ${status}`).toBe(true);
    expect(isFinal(status)).toBe(isFinal(status) && at === statuses.length - 1);
    before = status;
  });
}

test("an event that changes the status of a run illegally is corruption (S2.30)", () => {
  const run = startToyRun(sketch(["start"], []));
  run.complete("start");
  const seq = run.events.length + 1;
  const place = {
    runId: RUN,
    nodeId: "",
    iteration: 0,
    attempt: 0,
    epoch: 0,
    seq,
    at: 2_000,
  } as const;
  const again: RunEvent = {
    ...{ ...place, type: "run.status.changed" },
    payload: { from: "completed", to: "running" },
  };
  expect(() => fold(RUN, run.state.graph, [...run.events, again])).toThrow(
    expect.objectContaining({
      reason: "EVENT_LOG_CORRUPTION",
      message: expect.stringContaining("makes a run running that is completed") as string,
    }),
  );
});
