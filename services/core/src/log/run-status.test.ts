import * as fc from "fast-check";
import { expect, test } from "vitest";
import { play, type Scenario, scenarios } from "../../test/arbitrary-run.ts";
import { playProgram, programs } from "../../test/loop-program.ts";
import { completed, RUN, sketch, startToyRun, type ToyRun } from "../../test/toy-run.ts";
import { FINAL_STATUSES, isFinal, type RunEvent, type RunStatus } from "./event.ts";
import { apply, fold, newRunState, runStatus } from "./fold.ts";
import { onDeadline } from "../plan/stop.ts";
import { mayBecome } from "./run-status.ts";
import type { RunState } from "./state.ts";
import { isUndo, undoOf } from "./undo-iteration.ts";
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

/** The scenario with a compensation for each node. Every compensation fails once. */
function undoable({ definition, scripts, scopes }: Scenario): Scenario {
  const compensation = { type: "undo", retry: { attempts: 2, jitter: false } };
  const nodes = definition.nodes.map((node) =>
    node["type"] === "task" ? { ...node, compensation } : node,
  );
  const undos = nodes.map(({ id }) => [`${id}#${undoOf(0)}`, ["fail", "ok"]] as const);
  return {
    definition: { ...definition, nodes },
    ...{ scripts: { ...scripts, ...Object.fromEntries(undos) }, scopes },
  };
}

/** The log of a run that waits for a slot before it begins, and is paused and resumed meanwhile. */
function withSlot([started, ...rest]: readonly RunEvent[]): readonly RunEvent[] {
  if (started?.type !== "run.started") throw new Error("a log begins with run.started");
  const slot = { key: "k", limit: 1, scope: "workflow" } as const;
  const moves = [
    { from: "pending", to: "paused" },
    { from: "paused", to: "pending" },
    { from: "pending", to: "running" },
  ] as const;
  return [
    { ...started, payload: { ...started.payload, slot } },
    ...moves.map((payload) => ({ ...started, type: "run.status.changed" as const, payload })),
    ...rest,
  ].map((event, at) => ({ ...event, seq: at + 1 }));
}

/** Ends a run whose deadline has passed. */
function passDeadline(run: ToyRun): void {
  const stop = onDeadline(run.state, run.now + 1e9);
  if (stop.kind === "accepted") stop.facts.forEach(run.append);
  run.plan();
}

test("random runs with every kind of failure, wait and end change their status legally, and both folds agree (S2.29, S2.30, X8)", () => {
  const seen = new Set<string>();
  fc.assert(
    fc.property(scenarios(10, { fatal: true }), fc.integer(), fc.nat(60), (drawn, seed, at) => {
      const scenario = seed % 3 === 0 ? undoable(drawn) : drawn;
      let step = 0;
      const onStep = (run: ToyRun): void => {
        if (seed % 4 === 0 && step++ === at) passDeadline(run);
      };
      const { run } = play(scenario, seed, onStep, { pauses: seed % 2 === 0 });
      const { state, events } = run;
      checkLegal(
        statusesOf({ state, events: seed % 5 === 0 ? [...withSlot(events)] : events }),
        seen,
      );
      const retriesOfUndos = events.filter(
        ({ type, iteration }) => type === "node.retried" && isUndo(iteration),
      );
      if (retriesOfUndos.length > 0) seen.add("a compensation is retried");
    }),
    { numRuns: 300 },
  );
  expect(ALL.filter((status) => !seen.has(status))).toEqual([]);
  expect(seen).toContain("a compensation is retried");
});

/** A run of this status, as far as the fold looks at it: three statuses follow from the nodes of a run whose own status is running. */
function runOf(status: RunStatus): RunState {
  const state = newRunState(RUN, sketch(["start"], []));
  const isDerived = DERIVED.has(status);
  return Object.assign(state, {
    ...{ status: isDerived ? "running" : status, isAdmitted: true },
    ...(status === "running" || status === "retrying" ? { begunAt: 1 } : {}),
    ...(status === "retrying" ? { activeCount: 1, backoffCount: 1 } : {}),
  });
}

const DERIVED: ReadonlySet<RunStatus> = new Set(["scheduled", "running", "retrying"]);

/** The event that gives a run this status, if the nodes of the run are so. */
function eventTo(from: RunStatus, to: RunStatus): RunEvent {
  const place = {
    runId: RUN,
    nodeId: "",
    iteration: 0,
    attempt: 0,
    epoch: 0,
    seq: 2,
    at: 2,
  } as const;
  // oxlint-disable-next-line typescript/switch-exhaustiveness-check -- the same event gives all others
  switch (to) {
    case "completed":
      return { ...place, type: "run.completed", payload: { hasFailures: false }, value: "null" };
    case "failed":
      return { ...place, type: "run.failed", payload: { failedNodeId: "start", message: "" } };
    case "cancelled":
      return { ...place, type: "run.cancelled", payload: { reason: "", requestId: "" } };
    case "timeout":
      return { ...place, type: "run.timed_out", payload: { deadlineAt: 1 } };
    default: {
      const payload = { from, to: DERIVED.has(to) ? "running" : to } as const;
      return { ...place, type: "run.status.changed", payload };
    }
  }
}

const ILLEGAL = ALL.flatMap(
  (from) =>
    ALL.filter((to) => to !== from && !mayBecome(from, to)).map((to) => [from, to] as const),
  // No event of a run makes one of these three of another one: the nodes do.
).filter(([from, to]) => !(DERIVED.has(from) && DERIVED.has(to)));

test.each(ILLEGAL)("a log that makes a run that is %s %s is corrupt (S2.29, S2.30)", (from, to) => {
  const state = runOf(from);
  expect(runStatus(state)).toBe(from);
  if (DERIVED.has(to)) {
    const { begunAt, activeCount, backoffCount } = runOf(to);
    Object.assign(state, { begunAt, activeCount, backoffCount });
  }
  expect(() => apply(state, eventTo(from, to))).toThrow(
    expect.objectContaining({
      reason: "EVENT_LOG_CORRUPTION",
      message: expect.stringContaining(`makes a run ${to} that is ${from}`) as string,
    }),
  );
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
