// Slots of concurrency keys and rates inside the journal's transactions.

import { nodeId, type RunId } from "@pawl/core/name/ids";
import type { Journal } from "@pawl/platform/store/tick/journal";
import type { SlotChange, SlotRequest, SlotsMoved } from "@pawl/platform/store/slots/slots";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { until } from "../support/until.ts";
import { newRunId } from "./facts.ts";
import { setup } from "./setup.ts";
import type { OpenStore } from "./store.ts";

const NOTHING: SlotChange = { released: [], started: [], requested: [], isDue: false };
const WORK = nodeId("work");

const wish = (runId: RunId, over: Partial<SlotRequest> = {}): SlotRequest => ({
  runId,
  nodeId: WORK,
  iteration: 0,
  attempt: 1,
  nodeType: "work",
  priority: 0,
  share: "s",
  ...over,
});

const holder = (runId: RunId) => ({ runId, nodeId: WORK, iteration: 0 });
const move = (journal: Journal, change: Partial<SlotChange>): Promise<SlotsMoved> =>
  journal.transact((tx) => tx.moveSlots({ ...NOTHING, ...change }));
const ids = ({ granted }: SlotsMoved): RunId[] => granted.map((job) => job.runId);

/** Slots on one kind of store. */
export function slotSuite(open: OpenStore): void {
  giving(open);
  racing(open);
  rates(open);
  lines(open);
}

function giving(open: OpenStore): void {
  test("slots go out up to the limit, and freed ones by priority, then in order", async () => {
    const { journal } = await setup(open);
    const slot = { key: crypto.randomUUID(), limit: 2 };
    const [a, b, c, d, e] = Array.from({ length: 5 }, newRunId) as [
      RunId,
      RunId,
      RunId,
      RunId,
      RunId,
    ];
    const asked = await move(journal, {
      requested: [a, b, c].map((runId) => wish(runId, { slot })),
    });
    expect(ids(asked)).toEqual([a, b]);
    expect(asked.granted[0]).toEqual({ ...wish(a), isGranted: true });
    expect(ids(await move(journal, { requested: [wish(d, { slot })] }))).toEqual([]);
    const urgent = wish(e, { slot, priority: -1 });
    expect(ids(await move(journal, { requested: [urgent] }))).toEqual([]);
    const slotKey = slot.key;
    const leave = (...runs: RunId[]) =>
      move(journal, { released: runs.map((runId) => ({ ...holder(runId), slotKey })) });
    expect(ids(await leave(a))).toEqual([e]);
    // A run that leaves while it waits frees no slot.
    expect(ids(await leave(c))).toEqual([]);
    expect(ids(await leave(b, e))).toEqual([d]);
    expect(ids(await leave(d))).toEqual([]);
  });

  test("leaving and asking again in one go queues up behind those who wait", async () => {
    const { journal } = await setup(open);
    const slot = { key: crypto.randomUUID(), limit: 1 };
    const [a, b] = [newRunId(), newRunId()];
    await move(journal, { requested: [wish(a, { slot }), wish(b, { slot })] });
    const released = [{ ...holder(a), slotKey: slot.key }];
    expect(ids(await move(journal, { released, requested: [wish(a, { slot })] }))).toEqual([b]);
  });

  test("a transaction that rolls back has given and taken nothing", async () => {
    const { journal } = await setup(open);
    const slot = { key: crypto.randomUUID(), limit: 1 };
    const [a, b] = [newRunId(), newRunId()];
    const broken = journal.transact(async (tx) => {
      expect(ids(await tx.moveSlots({ ...NOTHING, requested: [wish(a, { slot })] }))).toEqual([a]);
      throw new Error("changed its mind");
    });
    await expect(broken).rejects.toThrow("changed its mind");
    expect(ids(await move(journal, { requested: [wish(b, { slot })] }))).toEqual([b]);
  });

  test("the limit of the last request counts", async () => {
    const { journal } = await setup(open);
    const key = crypto.randomUUID();
    const runs = Array.from({ length: 6 }, newRunId);
    const requested = runs.map((runId) => wish(runId, { slot: { key, limit: 3 } }));
    expect((await move(journal, { requested })).granted).toHaveLength(3);
    const more = [wish(newRunId(), { slot: { key, limit: 5 } })];
    expect((await move(journal, { requested: more })).granted).toHaveLength(2);
  });
}

function racing(open: OpenStore): void {
  test("two writers never give more than there is, and no freed slot stays unused (X24)", async () => {
    const { journal, rival } = await setup(open);
    const keys = Array.from({ length: 3 }, () => crypto.randomUUID());
    const held = new Map<string, Set<RunId>>(keys.map((key) => [key, new Set()]));
    const keyOf = new Map<RunId, string>();
    /** Records the slots that a scheduler knows of once it has committed. */
    const note = ({ granted }: SlotsMoved): void => {
      for (const { runId } of granted) {
        held.get(keyOf.get(runId) ?? "")?.add(runId);
      }
    };
    const act = async (writer: Journal, turn: number): Promise<void> => {
      const requested = keys.map((key) => {
        const runId = newRunId();
        keyOf.set(runId, key);
        return wish(runId, { slot: { key, limit: 2 }, priority: turn % 3 });
      });
      const released = keys.flatMap((slotKey) => {
        const [runId] = held.get(slotKey) ?? [];
        if (runId === undefined) return [];
        held.get(slotKey)?.delete(runId);
        keyOf.delete(runId);
        return [{ ...holder(runId), slotKey }];
      });
      note(await writer.transact((tx) => tx.moveSlots({ ...NOTHING, released, requested })));
    };
    const check = (size: number): void =>
      expect([...held.values()].map((own) => own.size)).toEqual([size, size, size]);
    for (let turn = 0; turn < 12; turn++) {
      await Promise.all([act(journal, turn), act(rival, turn), act(journal, turn)]);
      check(2);
    }
    for (let left = keyOf.size; left > 0 && keyOf.size > 0; left--) {
      const released = [...held].flatMap(([slotKey, own]) =>
        [...own].map((runId) => ({ ...holder(runId), slotKey })),
      );
      for (const { runId } of released) keyOf.delete(runId);
      for (const own of held.values()) own.clear();
      note(await move(journal, { released }));
    }
    check(0);
  });
}

function rates(open: OpenStore): void {
  test("a slot of a rate stays taken until one window after the start, and then goes to the next run", async () => {
    const { journal } = await setup(open);
    const rate = { key: crypto.randomUUID(), limit: 1, perMs: 150 };
    const [a, b] = [newRunId(), newRunId()];
    const asked = await move(journal, { requested: [wish(a, { rate }), wish(b, { rate })] });
    expect(ids(asked)).toEqual([a]);
    // Before the run starts, the time at which the slot frees is unknown.
    expect(asked.wakeInMs).toBeUndefined();
    const began = Date.now();
    const started = await move(journal, { started: [{ ...holder(a), rate }] });
    expect(started.granted).toEqual([]);
    expect(started.wakeInMs).toBeGreaterThan(50);
    const rateKey = rate.key;
    // Its end frees nothing of the rate.
    expect(ids(await move(journal, { released: [{ ...holder(a), rateKey }] }))).toEqual([]);
    const given = await until(
      async () => {
        const found = ids(await move(journal, { isDue: true }));
        return found.includes(b) && found;
      },
      { what: "the next slot of the rate" },
    );
    expect(given).toEqual([b]);
    expect(Date.now() - began).toBeGreaterThanOrEqual(rate.perMs - 5);
  });

  test("a run that needs a slot and a rate gets them one after the other", async () => {
    const { journal } = await setup(open);
    const slot = { key: crypto.randomUUID(), limit: 1 };
    const rate = { key: crypto.randomUUID(), limit: 1, perMs: 60_000 };
    const [a, b, c] = [newRunId(), newRunId(), newRunId()];
    expect(ids(await move(journal, { requested: [wish(a, { slot, rate })] }))).toEqual([a]);
    expect(ids(await move(journal, { requested: [wish(b, { slot, rate })] }))).toEqual([]);
    expect(ids(await move(journal, { requested: [wish(c, { rate })] }))).toEqual([]);
    // It never started, so its slot of the rate goes at once to the run that asked for the rate first.
    const leave = { ...holder(a), slotKey: slot.key, rateKey: rate.key };
    expect(ids(await move(journal, { released: [leave] }))).toEqual([c]);
  });
}

function lines(open: OpenStore): void {
  const asked = (key: string, kind: "slot" | "rate" = "slot") => ({
    nodeId: WORK,
    iteration: 0,
    kind,
    key,
  });

  test("a run in line can read the limit, the holders of the slots and how many runs are before it", async () => {
    const { journal, slotWaits } = await setup(open);
    const slot = { key: crypto.randomUUID(), limit: 7 };
    const runs = Array.from({ length: 11 }, newRunId);
    await move(journal, { requested: runs.slice(0, 10).map((runId) => wish(runId, { slot })) });
    const urgent = runs[10] as RunId;
    await move(journal, { requested: [wish(urgent, { slot, priority: -1 })] });
    const line = async (runId: RunId) => (await slotWaits(runId, [asked(slot.key)]))[0];
    const holders = runs.slice(0, 5).map((runId) => holder(runId));
    const common = { ...asked(slot.key), limit: 7, takenCount: 7, holders };
    const { key: _key, ...seen } = common;
    expect(await line(urgent)).toEqual({ ...seen, aheadCount: 0 });
    expect(await line(runs[7] as RunId)).toEqual({ ...seen, aheadCount: 1 });
    expect(await line(runs[9] as RunId)).toEqual({ ...seen, aheadCount: 3 });
    // A run that has a slot, asks for another key or never asked waits for nothing.
    expect(await line(runs[0] as RunId)).toBeUndefined();
    expect(await line(newRunId())).toBeUndefined();
    expect(await slotWaits(urgent, [asked("another"), asked(slot.key)])).toHaveLength(1);
    expect(await slotWaits(urgent, [])).toEqual([]);
  });

  test("a run that waits for a rate can read when its slot frees", async () => {
    const { journal, slotWaits } = await setup(open);
    const rate = { key: crypto.randomUUID(), limit: 2, perMs: 3_600_000 };
    const [a, b, c, d, e] = Array.from({ length: 5 }, newRunId) as [
      RunId,
      RunId,
      RunId,
      RunId,
      RunId,
    ];
    await move(journal, { requested: [a, b, c, d, e].map((runId) => wish(runId, { rate })) });
    const freeAt = async (runId: RunId) =>
      (await slotWaits(runId, [asked(rate.key, "rate")]))[0]?.freeAt;
    // Both have their slots and neither was started.
    expect(await freeAt(c)).toBeUndefined();
    await move(journal, { started: [{ ...holder(b), rate }] });
    const first = await freeAt(c);
    expect(first).toBeGreaterThan(0);
    expect(await freeAt(d)).toBeUndefined();
    await move(journal, { started: [{ ...holder(a), rate: { ...rate, perMs: 7_200_000 } }] });
    expect([await freeAt(c), await freeAt(e)]).toEqual([first, first]);
    expect(await freeAt(d)).toBeGreaterThan((first ?? 0) + 3_000_000);
    const [seen] = await slotWaits(e, [asked(rate.key, "rate")]);
    expect(seen).toMatchObject({ kind: "rate", limit: 2, takenCount: 2, aheadCount: 2 });
    expect(seen?.holders.map(({ runId }) => runId)).toEqual([b, a]);
  });
}

/** The answers of both stores to the same random history of requests and releases. */
export const slotHistory = fc.array(
  fc.record({
    run: fc.nat(5),
    key: fc.nat(1),
    limit: fc.integer({ min: 1, max: 2 }),
    priority: fc.nat(1),
    kind: fc.constantFrom("ask", "ask", "leave", "both"),
  }),
  { minLength: 3, maxLength: 30 },
);

/** Plays a history on a journal; each answer in turn. */
export async function playSlots(
  journal: Journal,
  history: typeof slotHistory extends fc.Arbitrary<infer T> ? T : never,
  world: { readonly runs: readonly RunId[]; readonly keys: readonly string[] },
): Promise<RunId[][]> {
  const answers: RunId[][] = [];
  const placed = new Map<RunId, string>();
  for (const { run, key: at, limit, priority, kind } of history) {
    const runId = world.runs[run] as RunId;
    const key = world.keys[at] as string;
    const slotKey = placed.get(runId);
    const released = slotKey !== undefined && kind !== "ask" ? [{ ...holder(runId), slotKey }] : [];
    if (released.length > 0) placed.delete(runId);
    const asks = kind !== "leave" && !placed.has(runId);
    if (asks) placed.set(runId, key);
    const requested = asks ? [wish(runId, { slot: { key, limit }, priority })] : [];
    answers.push(ids(await move(journal, { released, requested })));
  }
  return answers;
}
