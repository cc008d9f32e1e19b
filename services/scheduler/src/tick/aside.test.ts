import { EngineError } from "@pawl/core/fault/engine-error";
import type { ExecutorId, NodeId, RunId } from "@pawl/core/name/ids";
import { ManualTimers, settle } from "@pawl/platform/lifecycle/manual-timers.fixture";
import { expect, test } from "vitest";
import { Aside } from "./aside.ts";
import type { Input } from "../inputs/input.ts";

const RUN = "run" as RunId;
const PARENT = "parent" as RunId;
const EXECUTOR = "e" as ExecutorId;
const claim = { runId: RUN, nodeId: "n" as NodeId, iteration: 0, epoch: 3, executorId: EXECUTOR };
const because = { error: new Error("locked") };

function setup() {
  const timers = new ManualTimers();
  const locked = new Set<RunId>();
  let dueCount = 0;
  let probes = 0;
  const aside = new Aside({
    recovery: {
      lockedRuns: async (runIds) => {
        probes += 1;
        return runIds.filter((runId) => locked.has(runId));
      },
    },
    timers,
    steady: timers.now,
    onDue: () => void (dueCount += 1),
  });
  const heard: string[] = [];
  const answer = (name: string) => ({
    resolve: () => void heard.push(`${name} done`),
    reject: (error: unknown) =>
      void heard.push(`${name} ${(error as { reason?: string }).reason ?? "failed"}`),
  });
  const cancel = (name: string, runId = RUN): Input => ({
    kind: "cancel",
    runId,
    reason: name,
    requestId: "",
    answer: answer(name),
  });
  const outcome = (name: string, executorId = EXECUTOR): Input => ({
    kind: "outcome",
    claim: { ...claim, executorId },
    outcome: { kind: "completed", outputJson: name, durationMs: 1 },
    jitter: 0,
    answer: answer(name),
  });
  const lost = (name: string): Input => ({
    kind: "lost",
    claim,
    reason: "released",
    executorId: EXECUTOR,
    answer: answer(name),
  });
  const due = (): number => dueCount;
  return { timers, locked, aside, heard, cancel, outcome, lost, due, probes: () => probes };
}

test("inputs about a run that waits are kept in order, and the rest is given back", () => {
  const { aside, cancel } = setup();
  const [first, second, other] = [cancel("1"), cancel("2"), cancel("3", PARENT)];
  aside.hold(RUN, [first], because);
  expect(aside.divert([other, second])).toEqual([other]);
  expect(aside.about(RUN)?.inputs).toEqual([first, second]);
  expect(aside.isDue).toBe(false);
});

test("a run is tried again only when nothing it waits for is locked, and is looked at ever more rarely", async () => {
  const { aside, timers, locked, outcome, due, probes } = setup();
  locked.add(PARENT);
  const kept = outcome("1");
  aside.hold(RUN, [kept], { ...because, locked: [PARENT] });
  await timers.advance(20_000);
  expect([due(), aside.isDue]).toEqual([0, false]);
  expect(probes()).toBeLessThan(20);
  locked.clear();
  await timers.advance(2_000);
  expect([due(), aside.isDue]).toEqual([1, true]);
  expect(aside.take()).toEqual([kept]);
  expect([aside.isDue, aside.has(RUN)]).toEqual([false, false]);
});

test("a caller and a sweep get the error RUN_CONTENDED after a while; an executor's outcome is kept", async () => {
  const { aside, timers, locked, cancel, outcome, lost, heard } = setup();
  locked.add(RUN);
  const kept = outcome("result");
  aside.hold(RUN, [cancel("caller"), kept, lost("sweep")], { ...because, locked: [RUN] });
  await timers.advance(2_000);
  expect(heard).toEqual([]);
  await timers.advance(4_000);
  expect(heard).toEqual(["caller RUN_CONTENDED", "sweep RUN_CONTENDED"]);
  expect(aside.about(RUN)?.inputs).toEqual([kept]);
});

test("a run that is set aside again and again waits longer each time", async () => {
  const { aside, timers, outcome, due } = setup();
  for (let round = 1; round <= 4; round += 1) {
    aside.hold(RUN, [outcome("1")], because);
    await timers.advance(25 * 2 ** round - 1);
    expect([round, due()]).toEqual([round, round - 1]);
    await timers.advance(1);
    expect([round, due()]).toEqual([round, round]);
    aside.take();
  }
});

test("a result that is repeated takes the place of what it repeats", () => {
  const { aside, outcome, cancel } = setup();
  const [first, between, again] = [outcome("1"), cancel("2"), outcome("3")];
  aside.hold(RUN, [first], because);
  aside.divert([between, again]);
  expect(aside.about(RUN)?.inputs).toEqual([again, between]);
  // What another executor says of the claim repeats nothing.
  const foreign = outcome("4", "f" as ExecutorId);
  aside.divert([foreign]);
  expect(aside.about(RUN)?.inputs).toEqual([again, between, foreign]);
});

test("a scheduler that stops tells callers, and leaves results to their executors", async () => {
  const { aside, timers, outcome, cancel, heard, due } = setup();
  aside.hold(RUN, [outcome("result"), cancel("caller")], because);
  aside.stop(new EngineError("DRAINING", "stopping"));
  expect(heard).toEqual(["caller DRAINING"]);
  await timers.advance(10_000);
  await settle();
  expect(due()).toBe(0);
});
