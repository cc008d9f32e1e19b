// Threads: moved with their version compared, held by one run, and read with the runs that wait for them.

import type { RunId } from "@pawl/core/name/ids";
import { readPresent, readTurns } from "@pawl/platform/store/threads/reads";
import type { ThreadChange, ThreadRun } from "@pawl/platform/store/threads/threads";
import type { Journal } from "@pawl/platform/store/tick/journal";
import { expect, test } from "vitest";
import { begin, change as changed, NODE } from "./facts.ts";
import { setup } from "./setup.ts";
import type { OpenStore } from "./store.ts";

const KEY = { tenantId: "acme", threadId: "chat" };

const thread = (expectedVersion: number, over: Partial<ThreadChange> = {}): ThreadChange => ({
  ...{ ...KEY, expectedVersion, status: "idle", holderRunId: null, runCount: 0 },
  ...{ memory: null, memoryTaint: null, output: null, stateRunId: null },
  ...over,
});

const NO_LINKS = { assistantId: null, requestId: null, sha256s: [] };

const edit = (metadata: string) => ({ metadata, assistantId: null });

const placed = (
  runId: RunId,
  position: number,
  state: ThreadRun["state"],
  isNew = true,
): ThreadRun => ({ ...KEY, runId, position, state, isNew });

/** Threads on one kind of store. */
export function threadSuite(open: OpenStore): void {
  moves(open);
  edits(open);
  removals(open);
}

function moves(open: OpenStore): void {
  test("a thread moves from one version to the next, and a writer that knows an older one changes nothing (S4.15, S4.24)", async () => {
    const { journal, rival } = await setup(open);
    const [first, second] = [await begin(journal), await begin(journal)];
    const taken = thread(0, { status: "busy", holderRunId: first, runCount: 2 });
    const runs = [placed(first, 1, "holding"), placed(second, 2, "waiting")];
    await journal.transact((tx) => tx.moveThreads({ threads: [taken], runs, values: [] }));
    const late = rival.transact((tx) =>
      tx.moveThreads({ threads: [thread(0)], runs: [], values: [] }),
    );
    await expect(late).rejects.toThrow("moved on");
    expect(await rival.loadThreads([KEY, { ...KEY, threadId: "other" }])).toMatchObject([
      {
        ...{ ...KEY, version: 1, status: "busy", holderRunId: first, runCount: 2, memory: "{}" },
        waiting: [{ runId: second, position: 2 }],
      },
    ]);
    const memory = '{"n": 1.50}';
    const next = { status: "busy", holderRunId: second, runCount: 2 } as const;
    await rival.transact((tx) =>
      tx.moveThreads({
        values: [],
        threads: [thread(1, { ...next, memory, output: "7", stateRunId: first })],
        runs: [placed(first, 1, "over", false), placed(second, 2, "holding", false)],
      }),
    );
    const [loaded] = await journal.loadThreads([KEY]);
    expect(loaded).toMatchObject({ version: 2, memory, output: "7", stateRunId: first });
    expect(loaded?.waiting).toEqual([]);
    await journal.transact((tx) =>
      tx.moveThreads({ threads: [thread(2, next)], runs: [], values: [] }),
    );
    expect(await journal.loadThreads([KEY])).toMatchObject([{ memory, output: "7" }]);
  });

  test("no second run ever holds a thread (S4.25, F1)", async () => {
    const { journal } = await setup(open);
    const [first, second] = [await begin(journal), await begin(journal)];
    const both = journal.transact((tx) =>
      tx.moveThreads({
        values: [],
        threads: [thread(0, { status: "busy", holderRunId: first, runCount: 2 })],
        runs: [placed(first, 1, "holding"), placed(second, 2, "holding")],
      }),
    );
    await expect(both).rejects.toThrow(/thread_runs_holder/);
    expect(await journal.loadThreads([KEY])).toEqual([]);
  });
}

/** The turns of threads, as gateways read them. */
export function turnSuite(open: OpenStore): void {
  test("the turns of a thread are the order in which runs took it or ended without it, from any place on (S4.41)", async () => {
    const { journal, db } = await setup(open);
    if (db === undefined) throw new Error("no database");
    const [first, paused, third, fourth] = [
      await begin(journal),
      await begin(journal),
      await begin(journal),
      await begin(journal),
    ];
    const move = (version: number, holder: RunId | null, ...runs: ThreadRun[]): Promise<unknown> =>
      journal.transact((tx) =>
        tx.moveThreads({
          threads: [thread(version, { holderRunId: holder, runCount: 4 })],
          runs,
          values: [],
        }),
      );
    const after = async (turn: number, position: number, limit = 10) =>
      (await readTurns(db, [{ ...KEY, turn, position }], limit))[0];
    expect(await after(0, 0)).toBeUndefined();
    expect(await readPresent(db, KEY)).toBeUndefined();
    await move(0, first, placed(first, 1, "holding"), placed(paused, 2, "waiting"));
    expect(await readPresent(db, KEY)).toEqual({ turn: 1, position: 0 });
    // The third run passes one that is paused, and the fourth ends in the move that accepts it.
    await move(
      1,
      third,
      placed(first, 1, "over", false),
      placed(third, 3, "holding"),
      placed(fourth, 4, "over"),
    );
    expect(await after(0, 0)).toMatchObject({
      isIdle: false,
      turns: [
        { runId: first, turn: 1, position: 1 },
        { runId: third, turn: 2, position: 3 },
        { runId: fourth, turn: 2, position: 4 },
      ],
    });
    expect(await readPresent(db, KEY)).toEqual({ turn: 2, position: 2 });
    await move(2, paused, placed(third, 3, "over", false), placed(paused, 2, "holding", false));
    await move(3, null, placed(paused, 2, "over", false));
    expect(await after(2, 3, 1)).toMatchObject({ isIdle: true, turns: [{ runId: fourth }] });
    expect(await after(2, 4)).toMatchObject({ turns: [{ runId: paused, turn: 3, position: 2 }] });
    expect(await readPresent(db, KEY)).toEqual({ turn: 3, position: 2 });
    const places = [
      { ...KEY, turn: 3, position: 2 },
      { ...KEY, threadId: "other", turn: 0, position: 0 },
    ];
    const read = await readTurns(db, [...places, ...places], 10);
    expect(read.map((news) => news?.turns)).toEqual([[], undefined, [], undefined]);
  });
}

function edits(open: OpenStore): void {
  test("a run that waits behind another one of its thread is not taken for a forgotten one (S4.4)", async () => {
    const { journal, recovery } = await setup(open);
    const [first, second] = [await begin(journal), await begin(journal)];
    const runs = [placed(first, 1, "holding"), placed(second, 2, "waiting")];
    const change = thread(0, { status: "busy", holderRunId: first, runCount: 2 });
    await journal.transact((tx) => tx.moveThreads({ threads: [change], runs, values: [] }));
    const job = { nodeId: "", nodeType: "_pending_run", iteration: 0, attempt: 1 } as const;
    const asked = [first, second].map((runId) => ({ ...job, runId }) as never);
    const missing = await recovery.missingJobs(asked);
    expect(missing.map(({ runId }) => runId)).toEqual([first]);
  });

  test("threads are created once, edited and deleted with their runs, but not with a live one (S4.2, S4.24)", async () => {
    const { journal, threads } = await setup(open);
    const fresh = { memory: "{}", memoryTaint: null, output: null, forkedFrom: null, ...NO_LINKS };
    const made = await threads.create({ ...KEY, metadata: '{"a": 1}', ...fresh });
    expect(made).toMatchObject({ isNew: true, thread: { status: "idle", runCount: 0 } });
    expect(await threads.create({ ...KEY, metadata: "{}", ...fresh })).toMatchObject({
      isNew: false,
    });
    expect(await threads.update({ ...KEY, threadId: "none" }, edit("{}"))).toBeUndefined();
    expect(await threads.update(KEY, edit('{"b":2}'))).toMatchObject(KEY);
    const run = await begin(journal);
    const held = thread(1, { status: "busy", holderRunId: run, runCount: 1 });
    await journal.transact((tx) =>
      tx.moveThreads({ threads: [held], runs: [placed(run, 1, "holding")], values: [] }),
    );
    expect(await threads.liveRuns(KEY)).toEqual([run]);
    expect(await threads.close(KEY)).toBe("busy");
    await journal.transact((tx) =>
      tx.moveThreads({
        values: [],
        threads: [thread(2, { runCount: 1 })],
        runs: [placed(run, 1, "over", false)],
      }),
    );
    await end(journal, run);
    expect(await threads.close(KEY)).toBe("closed");
    expect(await threads.close(KEY)).toBe("missing");
    expect(await threads.removeSome(KEY)).toBe("removed");
    // Another scheduler has removed it.
    expect(await threads.removeSome(KEY)).toBe("removed");
    expect(await journal.load([{ runId: run, afterSeq: 0 }])).toEqual([]);
    expect(await threads.create({ ...KEY, metadata: "{}", ...fresh })).toMatchObject({
      isNew: true,
    });
  });
}

function removals(open: OpenStore): void {
  test("a closed thread is found by no reader, and a tick that decided before the mark changes nothing (S4.2)", async () => {
    const { journal, threads } = await setup(open);
    const run = await begin(journal);
    await journal.transact((tx) =>
      tx.moveThreads({
        values: [],
        threads: [thread(0, { runCount: 1 })],
        runs: [placed(run, 1, "over")],
      }),
    );
    expect(await threads.close(KEY)).toBe("closed");
    expect(await threads.find(KEY)).toBeUndefined();
    expect(await threads.stateOf(KEY)).toBeUndefined();
    expect(await threads.update(KEY, edit("{}"))).toBeUndefined();
    const fresh = { memory: "{}", memoryTaint: null, output: null, forkedFrom: null, ...NO_LINKS };
    expect(await threads.create({ ...KEY, metadata: "{}", ...fresh })).toBeUndefined();
    expect(await threads.closed()).toMatchObject([KEY]);
    expect(await journal.loadThreads([KEY])).toMatchObject([{ isDeleted: true, version: 2 }]);
    const late = journal.transact((tx) =>
      tx.moveThreads({ threads: [thread(1)], runs: [], values: [] }),
    );
    await expect(late).rejects.toThrow("moved on");
  });

  test("a thread is removed with the runs below its runs, and waits while one of them lives (S4.2)", async () => {
    const { journal, threads, see } = await setup(open);
    const root = await begin(journal);
    const below = (runId: RunId) =>
      begin(journal, { parent: { runId, nodeId: NODE, iteration: 0 } });
    const [child, ended] = [await below(root), await below(root)];
    const grandchild = await below(ended);
    for (const runId of [root, ended, grandchild]) await end(journal, runId);
    await journal.transact((tx) =>
      tx.moveThreads({
        values: [],
        threads: [thread(0, { runCount: 1 })],
        runs: [placed(root, 1, "over")],
      }),
    );
    expect(await threads.close(KEY)).toBe("closed");
    expect(await threads.removeSome(KEY)).toBe("waits");
    expect((await see(root)).run).toMatchObject({ hasEnded: true });
    await end(journal, child);
    expect(await threads.removeSome(KEY)).toBe("removed");
    for (const runId of [root, child, ended, grandchild])
      expect(await see(runId)).toEqual({ run: undefined, events: [], leases: [], effects: [] });
    expect(await threads.closed()).toEqual([]);
  });
}

const end = (journal: Journal, runId: RunId) =>
  journal.transact(async (tx) => {
    await tx.advance([changed(runId, 1, 0, { status: "completed", ended: true })]);
  });
