// Queued jobs inside the journal's transactions.

import { nodeId } from "@pawl/core/name/ids";
import { RunMoved, type Journal } from "@pawl/platform/store/tick/journal";
import type { NewJob } from "@pawl/platform/queue/queue";
import { expect, test } from "vitest";
import { until } from "../support/until.ts";
import { begin, HOUR_MS, newRunId, queued, step } from "./facts.ts";
import { setup } from "./setup.ts";
import type { OpenStore } from "./store.ts";

const RUN = newRunId();

const job = (name: string, over: Partial<NewJob> = {}): NewJob => ({
  runId: RUN,
  nodeId: nodeId(name),
  iteration: 0,
  attempt: 1,
  nodeType: "work",
  priority: 0,
  ...over,
});

const enqueue = (journal: Journal, ...jobs: NewJob[]): Promise<void> =>
  journal.transact((tx) => tx.enqueue(jobs));

/** Takes jobs one at a time, which shows their order, until none is ready. */
async function drain(journal: Journal, nodeType = "work"): Promise<string[]> {
  const names: string[] = [];
  for (;;) {
    const [next] = await journal.transact((tx) => tx.fetch(nodeType, 1));
    if (next === undefined) return names;
    names.push(next.nodeId);
  }
}

/** Jobs on one kind of store. */
export function jobSuite(open: OpenStore): void {
  order(open);
  sharesAndBacklogs(open);
  rollbacks(open);
  drops(open);
  sharing(open);
}

function order(open: OpenStore): void {
  test("a lower priority number goes first, and equals go in order of arrival (S0.59)", async () => {
    const { journal, prepare } = await setup(open);
    await prepare(["work"]);
    await enqueue(journal, job("late", { priority: 5 }));
    await enqueue(journal, job("first", { priority: 1 }));
    await enqueue(journal, job("second", { priority: 1 }));
    await enqueue(journal, job("zeroth"));
    await enqueue(journal, job("urgent", { priority: -1 }));
    expect(await drain(journal)).toEqual(["urgent", "zeroth", "first", "second", "late"]);
  });

  test("a delayed job is not taken before its time, and then it is", async () => {
    const { journal, prepare } = await setup(open);
    await prepare(["work"]);
    await enqueue(journal, job("tomorrow", { delayMs: HOUR_MS }), job("soon", { delayMs: 40 }));
    const taken = await until(
      async () => {
        const names = await drain(journal);
        return names.length > 0 && names;
      },
      { what: "the delayed job" },
    );
    expect(taken).toEqual(["soon"]);
    expect(await drain(journal)).toEqual([]);
  });

  test("a job comes back as it was sent, from the queue of its type only", async () => {
    const { journal, prepare } = await setup(open);
    await prepare(["work", "other"]);
    await enqueue(journal, job("a", { iteration: 3, attempt: 2 }));
    expect(await drain(journal, "other")).toEqual([]);
    const jobs = await journal.transact((tx) => tx.fetch("work", 10));
    expect(jobs).toEqual([
      {
        jobId: expect.any(String),
        runId: RUN,
        nodeId: "a",
        iteration: 3,
        attempt: 2,
        nodeType: "work",
      },
    ]);
  });

  test("the depth of a queue counts its waiting jobs", async () => {
    const { journal, prepare } = await setup(open);
    await prepare(["work"]);
    await enqueue(journal, job("a"), job("b", { delayMs: HOUR_MS }));
    const depth = async () =>
      (await journal.survey()).queues.find((each) => each.nodeType === "work");
    expect(await depth()).toMatchObject({ waitingCount: 2 });
    await drain(journal);
    const left = await depth();
    expect(left?.waitingCount).toBe(1);
    expect(left?.dueInMs).toBeGreaterThan(HOUR_MS / 2);
  });
}

function sharesAndBacklogs(open: OpenStore): void {
  test("within one priority each share has its turn, and the jobs of one share keep their order", async () => {
    const { journal, prepare } = await setup(open);
    await prepare(["work"]);
    for (const n of [1, 2, 3, 4, 5]) await enqueue(journal, job(`many${n}`, { share: "many" }));
    for (const n of [1, 2]) await enqueue(journal, job(`few${n}`, { share: "few" }));
    await enqueue(journal, job("urgent", { share: "many", priority: -1 }));
    const taken = await drain(journal);
    expect(taken).toEqual(["urgent", "many1", "few1", "many2", "few2", "many3", "many4", "many5"]);
  });

  test("five thousand jobs that can wait do not keep one that cannot waiting (X16)", async () => {
    const { journal, prepare } = await setup(open);
    await prepare(["work"]);
    const backlog = Array.from({ length: 5_000 }, (_, n) => job(`w${n}`, { priority: 10 }));
    await enqueue(journal, ...backlog);
    await enqueue(journal, job("urgent", { priority: 9 }));
    const [first, second] = await journal.transact((tx) => tx.fetch("work", 2));
    expect([first?.nodeId, second?.nodeId]).toEqual(["urgent", "w0"]);
  });
}

function rollbacks(open: OpenStore): void {
  test("jobs taken in a transaction that rolls back are there again, in their old order (S0.60)", async () => {
    const { journal, prepare } = await setup(open);
    await prepare(["work"]);
    await enqueue(journal, job("a"));
    await enqueue(journal, job("b"));
    const broken = journal.transact(async (tx) => {
      const jobs = await tx.fetch("work", 1);
      expect(jobs).toHaveLength(1);
      throw new Error("changed its mind");
    });
    await expect(broken).rejects.toThrow("changed its mind");
    expect(await drain(journal)).toEqual(["a", "b"]);
  });

  test("jobs taken or sent by a decision that loses are as before", async () => {
    const { journal, prepare } = await setup(open);
    await prepare(["work"]);
    const run = await begin(journal);
    await enqueue(journal, job("waiting"));
    const late = journal.transact(async (tx) => {
      void tx.fetch("work", 5);
      void tx.enqueue([job("new")]);
      await tx.advance([
        {
          runId: run,
          expectedVersion: 9,
          eventCount: 0,
          status: "running",
          hasFailures: false,
          errorMessage: null,
          failureClass: null,
          ended: false,
        },
      ]);
    });
    await expect(late).rejects.toBeInstanceOf(RunMoved);
    expect(await drain(journal)).toEqual(["waiting"]);
  });

  test("a node is queued in the log and in the queue, or in neither (S3.5)", async () => {
    const { journal, see, prepare } = await setup(open);
    await prepare(["work"]);
    const run = await begin(journal);
    await step(journal, run, 1, {
      facts: [queued(nodeId("a"))],
      also: (tx) => void tx.enqueue([job("a")]),
    });
    const late = step(journal, run, 1, {
      facts: [queued(nodeId("b"))],
      also: (tx) => void tx.enqueue([job("b")]),
    });
    await expect(late).rejects.toBeInstanceOf(RunMoved);
    expect((await see(run)).events.map((event) => event.nodeId)).toEqual(["", "a"]);
    expect(await drain(journal)).toEqual(["a"]);
  });
}

function drops(open: OpenStore): void {
  test("a waiting job is dropped by what it delivers, and nothing else with it (S0.14)", async () => {
    const { journal, prepare } = await setup(open);
    await prepare(["work", "other"]);
    await enqueue(journal, job("a"), job("a", { attempt: 2 }), job("b", { delayMs: HOUR_MS }));
    await enqueue(journal, job("a", { nodeType: "other" }), job("c"));
    await journal.transact((tx) => tx.dropJobs([job("a"), job("b"), job("never sent")]));
    const left = await journal.transact((tx) => tx.fetch("work", 10));
    // Jobs of one instant have no order among themselves.
    expect(left.map((each) => `${each.nodeId} ${each.attempt}`).toSorted()).toEqual(["a 2", "c 1"]);
    expect(await drain(journal, "other")).toEqual(["a"]);
    const { queues: depths } = await journal.survey();
    expect(depths.find((each) => each.nodeType === "work")?.waitingCount ?? 0).toBe(0);
  });

  test("a delivery is in the queue once however often it is sent, and again once it was taken", async () => {
    const { journal, prepare } = await setup(open);
    await prepare(["work"]);
    await enqueue(journal, job("a"));
    await enqueue(journal, job("a"));
    expect(await drain(journal)).toEqual(["a"]);
    await enqueue(journal, job("a"));
    expect(await drain(journal)).toEqual(["a"]);
  });

  test("jobs dropped by a decision that loses wait as before", async () => {
    const { journal, prepare } = await setup(open);
    await prepare(["work"]);
    const run = await begin(journal);
    await enqueue(journal, job("a"));
    const late = step(journal, run, 9, { facts: [], also: (tx) => void tx.dropJobs([job("a")]) });
    await expect(late).rejects.toBeInstanceOf(RunMoved);
    expect(await drain(journal)).toEqual(["a"]);
  });
}

function sharing(open: OpenStore): void {
  test("schedulers that take jobs at once never take the same one (S0.59)", async () => {
    const { journal, rival, prepare } = await setup(open);
    await prepare(["work"]);
    const names = Array.from({ length: 20 }, (_, at) => `n${at}`);
    await enqueue(journal, ...names.map((name) => job(name)));
    const taken = await Promise.all(
      [journal, rival].map((by) => by.transact((tx) => tx.fetch("work", 10))),
    );
    const rest = await drain(journal);
    const all = [...taken.flat().map((each) => each.nodeId), ...rest];
    expect(all.toSorted()).toEqual(names.toSorted());
  });

  test("a transaction may take what it sent itself", async () => {
    const { journal, prepare } = await setup(open);
    await prepare(["work"]);
    const jobs = await journal.transact(async (tx) => {
      await tx.enqueue([job("own")]);
      return await tx.fetch("work", 1);
    });
    expect(jobs.map((each) => each.nodeId)).toEqual(["own"]);
    expect(await drain(journal)).toEqual([]);
  });
}
