// Claims, leases and the partial output that is fenced by them.

import { nodeId, type NodeId } from "@pawl/core/name/ids";
import { isUniqueViolation } from "@pawl/platform/db/failure";
import { expect, test } from "vitest";
import {
  appends,
  begin,
  change,
  claim,
  completed,
  delta,
  EXECUTOR,
  NODE,
  queued,
  step,
} from "./facts.ts";
import { setup } from "./setup.ts";
import type { OpenStore } from "./store.ts";

const key = { nodeId: NODE, iteration: 0 };

/** Claims and streams on one kind of store. */
export function claimSuite(open: OpenStore): void {
  leases(open);
  fencing(open);
  streams(open);
  continuations(open);
}

function leases(open: OpenStore): void {
  test("a claim's epoch is the seq of its node.started and grows with every claim (S0.41)", async () => {
    const { journal, see } = await setup(open);
    const executor = EXECUTOR;
    const run = await begin(journal);
    const first = await claim(journal, run, 1, executor);
    const other = await claim(journal, run, 2, executor, nodeId("other"));
    const { events, leases: held } = await see(run);
    expect([first, other]).toEqual([2, 3]);
    expect(events.slice(1).map((event) => event.epoch)).toEqual([2, 3]);
    expect(held).toEqual([
      { ...key, epoch: 2, attempt: 1, executorId: executor },
      { nodeId: "other", iteration: 0, epoch: 3, attempt: 1, executorId: executor },
    ]);
  });

  test("a node execution has at most one lease", async () => {
    const { journal, see } = await setup(open);
    const run = await begin(journal);
    await claim(journal, run, 1, EXECUTOR);
    const before = await see(run);
    const second = claim(journal, run, 2, EXECUTOR);
    await expect(second).rejects.toSatisfy(isUniqueViolation);
    expect(await see(run)).toEqual(before);
  });

  test("a lease that ends makes room for a claim with a larger epoch (S0.41)", async () => {
    const { journal, see } = await setup(open);
    const run = await begin(journal);
    const lost = await claim(journal, run, 1, EXECUTOR);
    await step(journal, run, 2, {
      facts: [queued(NODE, 1)],
      also: (tx) => void tx.closeLeases([{ runId: run, ...key }]),
    });
    expect((await see(run)).leases).toEqual([]);
    const won = await claim(journal, run, 3, EXECUTOR);
    expect(won).toBeGreaterThan(lost);
    expect((await see(run)).leases).toMatchObject([{ ...key, epoch: won }]);
  });
}

function fencing(open: OpenStore): void {
  test("partial output of a claim that was lost is dropped and leaves no gap (S0.42, S0.43)", async () => {
    const { journal, see } = await setup(open);
    const run = await begin(journal);
    const stale = await claim(journal, run, 1, EXECUTOR);
    await step(journal, run, 2, {
      facts: [queued(NODE, 1)],
      also: (tx) => void tx.closeLeases([{ runId: run, ...key }]),
    });
    const live = await claim(journal, run, 3, EXECUTOR);
    await journal.transact((tx) =>
      tx.stream([
        delta(run, stale, 1),
        delta(run, live, 1),
        delta(run, stale, 2),
        delta(run, live, 2),
      ]),
    );
    const { events, run: row } = await see(run);
    const streamed = events.filter((event) => event.type === "node.stream.delta");
    expect(streamed.map((event) => [event.seq, event.epoch])).toEqual([
      [5, live],
      [6, live],
    ]);
    expect(row?.lastSeq).toBe(6);
    expect(events.map((event) => event.seq)).toEqual([1, 2, 3, 4, 5, 6]);
  });

  test("partial output of a node without a lease is dropped (S0.43)", async () => {
    const { journal, see } = await setup(open);
    const run = await begin(journal);
    const before = await see(run);
    await journal.transact((tx) => tx.stream([delta(run, 2, 1)]));
    expect(await see(run)).toEqual(before);
  });

  test("partial output after the lease ended in the same transaction is dropped", async () => {
    const { journal, see } = await setup(open);
    const run = await begin(journal);
    const epoch = await claim(journal, run, 1, EXECUTOR);
    await step(journal, run, 2, {
      facts: [completed(epoch)],
      also: (tx) => {
        void tx.closeLeases([{ runId: run, ...key }]);
        void tx.stream([delta(run, epoch, 1)]);
      },
    });
    expect((await see(run)).events.map((event) => event.type)).toEqual([
      "run.started",
      "node.started",
      "node.completed",
    ]);
  });
}

function streams(open: OpenStore): void {
  test("partial output that is sent again is dropped, across and within transactions", async () => {
    const { journal, see } = await setup(open);
    const run = await begin(journal);
    const epoch = await claim(journal, run, 1, EXECUTOR);
    const send = (...ordinals: number[]) =>
      journal.transact((tx) => tx.stream(ordinals.map((ordinal) => delta(run, epoch, ordinal))));
    await send(1, 2);
    await send(1, 2, 3);
    await send(4, 4);
    const { events, run: row } = await see(run);
    expect(events.slice(2).map((event) => [event.seq, event.payload])).toEqual(
      [1, 2, 3, 4].map((at) => [at + 2, { deltaIndex: at, text: `part ${at}` }]),
    );
    expect(row?.lastSeq).toBe(6);
  });

  test("partial output makes no planner lose its race (S3.3)", async () => {
    const { journal, rival, see } = await setup(open);
    const run = await begin(journal);
    const epoch = await claim(journal, run, 1, EXECUTOR);
    await rival.transact((tx) => tx.stream([delta(run, epoch, 1)]));
    const last = await step(journal, run, 2, { facts: [completed(epoch)] });
    expect(last).toBe(4);
    expect((await see(run)).run).toMatchObject({ version: 3, lastSeq: 4 });
  });

  test("partial output and the result behind it go into the log in that order in one transaction", async () => {
    const { journal, see } = await setup(open);
    const run = await begin(journal);
    const epoch = await claim(journal, run, 1, EXECUTOR);
    await journal.transact((tx) => tx.stream([delta(run, epoch, 1)]));
    await journal.transact((tx) => {
      void tx.stream([delta(run, epoch, 2), { ...delta(run, epoch, 1), type: "node.log" }]);
      void tx.advance([change(run, 2, 1)]);
      void tx.append(appends(run, [completed(epoch)]));
      void tx.closeLeases([{ runId: run, ...key }]);
    });
    const { events, leases: held } = await see(run);
    expect(events.map((event) => event.type)).toEqual([
      "run.started",
      "node.started",
      "node.stream.delta",
      "node.stream.delta",
      "node.log",
      "node.completed",
    ]);
    expect(events.map((event) => event.seq)).toEqual([1, 2, 3, 4, 5, 6]);
    expect(held).toEqual([]);
  });

  test("two streams into one run at once share its seqs without gap or collision (S3.2)", async () => {
    const { journal, rival, see } = await setup(open);
    const run = await begin(journal);
    const [a, b] = [nodeId("a"), nodeId("b")];
    const first = await claim(journal, run, 1, EXECUTOR, a);
    const second = await claim(journal, run, 2, EXECUTOR, b);
    const ordinals = [1, 2, 3, 4, 5];
    await Promise.all([
      journal.transact((tx) => tx.stream(ordinals.map((at) => delta(run, first, at, { node: a })))),
      rival.transact((tx) => tx.stream(ordinals.map((at) => delta(run, second, at, { node: b })))),
    ]);
    const { events, run: row } = await see(run);
    expect(events.map((event) => event.seq)).toEqual(Array.from({ length: 13 }, (_, at) => at + 1));
    expect(row).toMatchObject({ lastSeq: 13, version: 3 });
  });
}

function continuations(open: OpenStore): void {
  test("the stream of a node continues after the deltas of its earlier claims (S1.49)", async () => {
    const { journal } = await setup(open);
    const run = await begin(journal);
    const nextOf = (...keys: { nodeId: NodeId; iteration: number }[]) =>
      journal.transact((tx) => tx.nextDeltas(keys.map((each) => ({ runId: run, ...each }))));
    expect(await nextOf(key)).toEqual([0]);
    const epoch = await claim(journal, run, 1, EXECUTOR);
    const line = { ...delta(run, epoch, 9), type: "node.log" } as const;
    await journal.transact((tx) => tx.stream([delta(run, epoch, 0), delta(run, epoch, 1), line]));
    const others = [
      { ...key, iteration: 1 },
      { ...key, nodeId: nodeId("another") },
    ];
    expect(await nextOf(key, ...others, key)).toEqual([2, 0, 0, 2]);
    // Partial output of the same transaction counts.
    const within = await journal.transact((tx) => {
      void tx.stream([delta(run, epoch, 2)]);
      return tx.nextDeltas([{ runId: run, ...key }]);
    });
    expect(within).toEqual([3]);
  });
}
