// The same random history of slot requests and releases on both stores: both give each slot to the same run.

import * as fc from "fast-check";
import { expect, onTestFinished, test } from "vitest";
import { newRunId } from "./facts.ts";
import { playSlots, slotHistory } from "./journal-slots.ts";
import { openMemory } from "./memory.ts";
import { postgresWith } from "./postgres.ts";

const openPostgres = postgresWith();

fc.configureGlobal({ seed: 1 });

test("any history of asking and leaving gives the same slots in memory and on Postgres (X24)", async () => {
  const [memory, postgres] = [await openMemory(), await openPostgres()];
  onTestFinished(async () => {
    await Promise.all([memory.close(), postgres.close()]);
  });
  const property = fc.asyncProperty(slotHistory, async (history) => {
    const runs = Array.from({ length: 6 }, newRunId);
    const world = { runs, keys: [crypto.randomUUID(), crypto.randomUUID()] };
    const expected = await playSlots(memory.journal, history, world);
    expect(await playSlots(postgres.journal, history, world)).toEqual(expected);
  });
  await fc.assert(property, { numRuns: 30 });
});
