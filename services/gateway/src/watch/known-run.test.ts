import { create } from "@bufbuild/protobuf";
import { runId } from "@pawl/core/name/ids";
import { RunStatus } from "@pawl/proto/pawl/v1/run_pb";
import { StartRunResponseSchema } from "@pawl/proto/pawl/v1/run_service_pb";
import { expect, test } from "vitest";
import { ENDINGS_MAX } from "@pawl/platform/ends/endings";
import { knownRun } from "./end-only.ts";
import { RUN, turn } from "./memory-log.fixture.ts";
import { type Setup, setup, take, upTo } from "./watching.fixture.ts";

const OTHER = runId("0198c0de-0000-7000-8000-000000000002");
const END: ReadonlySet<string> = new Set(["run.completed"]);

const started = (lastEventId: number, duplicate = false) =>
  create(StartRunResponseSchema, {
    run: {
      runId: RUN,
      workflowId: "w",
      status: RunStatus.RUNNING,
      lastEventId: BigInt(lastEventId),
    },
    duplicate,
  });

/** A gateway that gets hints and is about to start a run. */
function starting() {
  let finds = 0;
  const findRun = () => {
    finds += 1;
    return made.log.findRun();
  };
  const made: Setup = setup({ findRun });
  const { fanout, log, watch } = made;
  fanout.setListening(true);
  const since = fanout.markNotifications();
  /** The scheduler accepted the run with all events of its log so far; the caller starts to wait for the end. */
  const accept = () => {
    const known = knownRun(started(log.events.length), END, since);
    return { wait: () => take(watch({ types: END, ...(known && { known }) }), 9) };
  };
  return { ...made, accept, finds: () => finds };
}

test("the end of a run that was just started costs one read if its hint comes after the join", async () => {
  const { log, fanout, accept, finds } = starting();
  log.append(3);
  const end = accept().wait();
  await turn();
  fanout.notify(RUN, log.append(20), false);
  await turn();
  expect([log.reads, finds()]).toEqual([0, 0]);
  fanout.notify(RUN, log.append(1, "run.completed"), true);
  expect(await end).toEqual([24]);
  expect([log.reads, finds()]).toEqual([1, 0]);
  expect(fanout.counts.tails).toBe(0);
});

test("the end of a run that was just started costs one read if its hint came before the join", async () => {
  const { log, fanout, accept, finds } = starting();
  log.append(3);
  const { wait } = accept();
  log.append(20);
  fanout.notify(RUN, log.append(1, "run.completed"), true);
  expect(await wait()).toEqual([24]);
  expect([log.reads, finds()]).toEqual([1, 0]);
});

test("a run that ended when it was accepted costs one read, whether its hint comes before or after the answer", async () => {
  for (const isEarly of [true, false]) {
    const { log, fanout, accept } = starting();
    const last = log.append(4) && log.append(1, "run.completed");
    if (isEarly) fanout.notify(RUN, last, true);
    const end = accept().wait();
    await turn();
    if (!isEarly) fanout.notify(RUN, last, true);
    expect(await end).toEqual([5]);
    expect(log.reads).toBe(1);
  }
});

test("an end that is notified with its event costs no read, whether it comes before or after the join", async () => {
  for (const isEarly of [true, false]) {
    const { log, fanout, accept, finds } = starting();
    log.append(3);
    const { wait } = accept();
    log.append(20);
    const last = log.append(1, "run.completed");
    const announce = (): void => {
      fanout.ended(log.last);
      fanout.notify(RUN, last, true);
    };
    if (isEarly) announce();
    const end = wait();
    await turn();
    if (!isEarly) announce();
    expect(await end).toEqual([24]);
    expect([log.reads, finds(), fanout.counts.tails]).toEqual([0, 0, 0]);
  }
});

test("a caller finds the end of its run if it was notified after the mark, and not the end of another run", () => {
  const { log, fanout } = starting();
  log.append(1, "run.completed");
  const since = fanout.markNotifications();
  expect(fanout.endSince(RUN, since)).toBeUndefined();
  fanout.notify(RUN, 1, true);
  expect(fanout.endSince(RUN, since)).toBeUndefined();
  fanout.ended(log.last);
  fanout.notify(RUN, 1, true);
  expect(fanout.endSince(RUN, since)).toBe(log.last);
  expect(fanout.endSince(OTHER, since)).toBeUndefined();
});

const GAPS: readonly (readonly [string, (made: Setup) => void])[] = [
  [
    "hints were interrupted",
    ({ fanout }) => {
      fanout.setListening(false);
      fanout.setListening(true);
    },
  ],
  ["no hints arrive", ({ fanout }) => fanout.setListening(false)],
  ["a hint named no run", ({ fanout }) => fanout.pollAll()],
  [
    "there were more hints than are remembered",
    ({ fanout }) => {
      for (let count = 0; count <= ENDINGS_MAX; count += 1) fanout.notify(OTHER, count, true);
    },
  ],
];

test.each(GAPS)("the gateway finds an end without a hint by looking when %s", async (_, gap) => {
  const made = starting();
  made.log.append(3);
  const { wait } = made.accept();
  made.log.append(1, "run.completed");
  gap(made);
  expect(await wait()).toEqual([4]);
});

test("an end that another watcher got before it left is known too", async () => {
  const { log, fanout, accept, watch } = starting();
  log.append(3);
  const { wait } = accept();
  const all = take(watch(), 9);
  await turn();
  fanout.notify(RUN, log.append(1, "run.completed"), true);
  expect(await all).toEqual(upTo(4));
  expect(fanout.counts.tails).toBe(0);
  expect(await wait()).toEqual([4]);
});

test("the tail reads the log if hints are interrupted during the join", async () => {
  const { log, fanout, accept } = starting();
  log.append(3);
  const end = accept().wait();
  await turn();
  fanout.setListening(false);
  log.append(1, "run.completed");
  fanout.setListening(true);
  fanout.pollAll();
  expect(await end).toEqual([4]);
});

test("a subscriber of all events brings the waves that a subscriber of the end does not know", async () => {
  const { log, fanout, accept, watch } = starting();
  log.findRun = async () => ({
    status: "running",
    lastSeq: log.events.length,
    scope: { workflowId: "w", traceId: "", waveOf: () => 5 },
  });
  log.append(3);
  const end = accept().wait();
  await turn();
  const all = watch();
  const first = await all.next();
  const waves = (first.value ?? []).map(({ wire }) => wire.correlation?.wave);
  expect(waves).toEqual([5, 5, 5]);
  fanout.notify(RUN, log.append(1, "run.completed"), true);
  expect([await end, await take(all, 9)]).toEqual([[4], [4]]);
});

test("only a new run whose caller waits only for the end is known without a read", () => {
  const since = { interruptions: 0, endings: 0 };
  expect(knownRun(started(3), END, since)).toMatchObject({ status: "running", lastSeq: 2, since });
  expect(knownRun(started(0), END, since)).toMatchObject({ lastSeq: 0 });
  expect(knownRun(started(3, true), END, since)).toBeUndefined();
  expect(knownRun(started(3), new Set(), since)).toBeUndefined();
  expect(knownRun(started(3), new Set(["run.completed", "node.failed"]), since)).toBeUndefined();
  expect(knownRun(create(StartRunResponseSchema, {}), END, since)).toBeUndefined();
});
