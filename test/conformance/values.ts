// Stored values on one kind of store, with any place for their bytes.

import { randomUUID } from "node:crypto";
import { LIMITS } from "@pawl/core/data/limits";
import { type Reference, referencesIn } from "@pawl/core/data/reference";
import type { RunId } from "@pawl/core/name/ids";
import type { Blobs } from "@pawl/platform/values/blobs";
import { referenceOf, ValueStore } from "@pawl/platform/values/value-store";
import { describe, expect, test } from "vitest";
import { begin, claim, EXECUTOR, HOUR_MS, newRunId, NODE, queued, step } from "./facts.ts";
import { setup } from "./setup.ts";
import type { OpenStore, StoreUnderTest } from "./store.ts";

/** Nothing is young. */
const AGED = { graceMs: -HOUR_MS, limit: 100 };
const YOUNG = { graceMs: HOUR_MS, limit: 100 };

const claimed = async ({ journal }: StoreUnderTest, runId: RunId): Promise<number> => {
  const last = await step(journal, runId, 1, { facts: [queued()] });
  expect(last).toBeGreaterThan(0);
  return await claim(journal, runId, 2, EXECUTOR);
};

/** A JSON text that no other test has. */
const textOf = (bytes: number): string => JSON.stringify(`${randomUUID()}${"é".repeat(bytes / 2)}`);

type OpenBlobs = (store: StoreUnderTest) => Promise<Blobs>;

const opener = (openStore: OpenStore, openBlobs: OpenBlobs) => async () => {
  const store = await setup(openStore);
  const blobs = await openBlobs(store);
  const values = new ValueStore(store.valueRows, blobs, LIMITS.inputBytes);
  const put = async (runId: RunId, json: string): Promise<Reference> => {
    const [reference] = referencesIn(await values.small(runId, json));
    if (reference === undefined) throw new Error("the text is small");
    return reference;
  };
  const refer = (runId: RunId, { sha256 }: Reference): Promise<void> =>
    store.journal.transact((tx) => tx.referValues([{ runId, sha256 }]));
  const read = (runId: RunId, { sha256 }: Reference, part = 0) =>
    values.readPart({ runId, sha256, part });
  const sweep = async (): Promise<void> => {
    while (await values.sweep(AGED));
  };
  return { store, blobs, values, put, refer, read, sweep };
};

type Open = ReturnType<typeof opener>;

export function valuesSuite(name: string, openStore: OpenStore, openBlobs: OpenBlobs): void {
  describe(name, () => {
    const open = opener(openStore, openBlobs);
    for (const suite of [readings, refusals, sweeps, races]) suite(open);
  });
}

function readings(open: Open): void {
  test("a value comes back to the letter, in parts, whatever its size (S2.34)", async () => {
    const { values, put, read } = await open();
    const runId = newRunId();
    for (const bytes of [LIMITS.inputBytes, LIMITS.storedPartBytes, 2 * LIMITS.storedPartBytes]) {
      const json = textOf(bytes);
      const reference = await put(runId, json);
      expect(reference).toEqual(referenceOf(json));
      expect(await values.whole(runId, await values.small(runId, json))).toBe(json);
      const first = await read(runId, reference);
      expect(first.bytes).toBe(Buffer.byteLength(json));
      expect(first.data.length).toBe(Math.min(first.bytes, LIMITS.storedPartBytes));
      await expect(read(runId, reference, 9)).rejects.toMatchObject({
        reason: "VALUE_NOT_FOUND",
      });
    }
  });

  test("a run reads only what it refers to, and the same value of two runs is stored once (S2.34)", async () => {
    const { store, put, read } = await open();
    const [one, other] = [newRunId(), newRunId()];
    const json = textOf(LIMITS.inputBytes);
    const reference = await put(one, json);
    await expect(read(other, reference)).rejects.toMatchObject({ reason: "VALUE_NOT_FOUND" });
    await put(other, json);
    const found = await Promise.all(
      [one, other].map((runId) => store.valueRows.find({ runId, ...reference })),
    );
    expect(found[0]?.generation).toBe(found[1]?.generation);
  });

  test("ten writers of one value store it once, and all may name it (S2.34)", async () => {
    const { put, read } = await open();
    const json = textOf(LIMITS.inputBytes);
    const runs = Array.from({ length: 10 }, newRunId);
    const made = await Promise.all(runs.map((runId) => put(runId, json)));
    for (const [index, runId] of runs.entries())
      expect((await read(runId, made[index] ?? referenceOf(json))).data.length).toBeGreaterThan(0);
  });
}

function refusals(open: Open): void {
  test("bytes that are not the value are refused, and no run refers to it (S2.34)", async () => {
    const { values, read } = await open();
    const runId = newRunId();
    const json = textOf(3_000);
    const reference = referenceOf(json);
    const writer = await values.begin(runId, reference);
    await writer.add(Buffer.from(json.replace("é", "e") + "1"));
    await expect(writer.end()).rejects.toMatchObject({ reason: "VALUE_CORRUPT" });
    await expect(read(runId, reference)).rejects.toMatchObject({ reason: "VALUE_NOT_FOUND" });
    const short = await values.begin(runId, reference);
    await expect(short.add(Buffer.from("1"))).rejects.toMatchObject({ reason: "INPUT_INVALID" });
    await expect(short.end()).rejects.toMatchObject({ reason: "VALUE_CORRUPT" });
    const huge = { ...reference, bytes: LIMITS.storedBytes + 1 };
    await expect(values.begin(runId, huge)).rejects.toMatchObject({ reason: "LIMIT_EXCEEDED" });
  });

  test("a damaged or lost part is named as corrupt, and never given (S2.34)", async () => {
    const { store, blobs, put, read } = await open();
    const runId = newRunId();
    const reference = await put(runId, textOf(LIMITS.inputBytes));
    const row = await store.valueRows.find({ runId, ...reference });
    const generation = row?.generation ?? "";
    await blobs.remove(generation, 1);
    await expect(read(runId, reference)).rejects.toMatchObject({ reason: "VALUE_CORRUPT" });
    await blobs.write(generation, 0, Buffer.from("other"));
    await expect(read(runId, reference)).rejects.toMatchObject({ reason: "VALUE_CORRUPT" });
  });
}

function sweeps(open: Open): void {
  test("a value that only the memory of a thread names stays, also in a fork, and goes with the last thread (S2.34, S4.2)", async () => {
    const { store, put, read, sweep } = await open();
    const { journal, threads } = store;
    const [writer, reader] = [newRunId(), newRunId()];
    const reference = await put(writer, textOf(LIMITS.inputBytes));
    const { sha256 } = reference;
    const chat = { tenantId: "acme", threadId: "chat" };
    const change = { ...chat, status: "idle", holderRunId: null, runCount: 1 } as const;
    const state = { memory: "{}", memoryTaint: null, output: null, stateRunId: null };
    const move = (expectedVersion: number, sha256s: readonly string[]): Promise<unknown> =>
      journal.transact((tx) =>
        tx.moveThreads({
          threads: [{ ...change, ...state, expectedVersion }],
          runs: [],
          values: [{ ...chat, sha256s }],
        }),
      );
    await move(0, [sha256]);
    const nothing = { metadata: "{}", forkedFrom: "chat", assistantId: null, requestId: null };
    const { stateRunId: _none, ...begun } = state;
    const fork = { tenantId: "acme", threadId: "fork", ...begun, ...nothing, sha256s: [sha256] };
    await threads.create(fork);
    // No run names the value, so the reference of its writer ends here.
    await sweep();
    await store.journal.transact((tx) => tx.referValues([{ runId: reader, sha256 }]));
    expect((await read(reader, reference)).bytes).toBe(reference.bytes);
    await move(1, []);
    const other = { ...fork, threadId: "none", sha256s: ["0".repeat(64)] };
    await expect(threads.create(other)).rejects.toMatchObject({ code: "23503" });
    expect(await threads.find(other)).toBeUndefined();
    expect(await threads.close(fork)).toBe("closed");
    expect(await threads.removeSome(fork)).toBe("removed");
    await sweep();
    expect((await read(reader, reference)).bytes).toBe(reference.bytes);
  });

  test("a sweep removes what no event names after the grace, and nothing else (S2.34)", async () => {
    const { store, blobs, values, put, refer, read, sweep } = await open();
    const [named, loose] = [await begin(store.journal), newRunId()];
    const kept = await put(named, textOf(LIMITS.inputBytes));
    const lost = await put(loose, textOf(LIMITS.inputBytes));
    const row = await store.valueRows.find({ runId: loose, ...lost });
    await refer(named, kept);
    await values.sweep(YOUNG);
    expect((await read(loose, lost)).data.length).toBeGreaterThan(0);
    await sweep();
    expect((await read(named, kept)).data.length).toBeGreaterThan(0);
    await expect(read(loose, lost)).rejects.toMatchObject({ reason: "VALUE_NOT_FOUND" });
    expect(await blobs.read(row?.generation ?? "", 0)).toBeUndefined();
    expect(await store.valueRows.garbage(10)).toEqual([]);
  });

  test("a value that a sweep removed is stored again under other names (S2.34)", async () => {
    const { put, refer, read, sweep, store } = await open();
    const json = textOf(LIMITS.inputBytes);
    await put(newRunId(), json);
    await sweep();
    const runId = await begin(store.journal);
    const reference = await put(runId, json);
    await refer(runId, reference);
    await sweep();
    expect((await read(runId, reference)).data.length).toBeGreaterThan(0);
  });
}

function races(open: Open): void {
  test("a writer that a sweep overtakes begins again, and a commit that names a removed value fails whole (S2.34)", async () => {
    const { store, values, put, sweep } = await open();
    const runId = newRunId();
    const json = textOf(3_000);
    const writer = await values.begin(runId, referenceOf(json));
    await writer.add(Buffer.from(json));
    await sweep();
    await expect(writer.end()).rejects.toMatchObject({ reason: "STORE_UNAVAILABLE" });
    const reference = await put(runId, textOf(LIMITS.inputBytes));
    expect(await store.valueRows.touch(runId, [reference.sha256, "0".repeat(64)])).toEqual(
      new Set([reference.sha256]),
    );
    await sweep();
    expect(await store.valueRows.touch(runId, [reference.sha256])).toEqual(new Set());
    const naming = store.journal.transact((tx) =>
      tx.referValues([{ runId, sha256: reference.sha256 }]),
    );
    await expect(naming).rejects.toThrow();
  });

  test("sweeps and commits race, and a named value is never removed (S2.34)", async () => {
    const { store, put, refer, read, sweep } = await open();
    const runId = await begin(store.journal);
    const references = await Promise.all(
      Array.from({ length: 12 }, () => put(runId, textOf(LIMITS.inputBytes))),
    );
    const named: Reference[] = [];
    // The tick sends one transaction after the other. A sweep may be first: then the commit fails and nothing names the value.
    const name = async (): Promise<void> => {
      for (const reference of references)
        await refer(runId, reference).then(
          () => named.push(reference),
          () => undefined,
        );
    };
    await Promise.all([name(), sweep().catch(() => undefined)]);
    await sweep();
    for (const reference of named)
      expect((await read(runId, reference)).data.length).toBeGreaterThan(0);
  });

  test("only the holder of a claim is known as one (S2.34)", async () => {
    const { store } = await open();
    const runId = await begin(store.journal);
    const epoch = await claimed(store, runId);
    const held = { runId, nodeId: NODE, iteration: 0, epoch };
    expect(await store.valueRows.hasClaim(held)).toBe(true);
    expect(await store.valueRows.hasClaim({ ...held, epoch: epoch + 1 })).toBe(false);
    expect(await store.valueRows.hasClaim({ ...held, iteration: 1 })).toBe(false);
  });
}
