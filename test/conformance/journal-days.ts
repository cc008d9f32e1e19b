// Daily budgets: transactions reserve and settle, and together they never pass the limit of a day.

import { randomUUID } from "node:crypto";
import { NOTHING, plus } from "@pawl/core/policy/budget";
import type { DayRequest } from "@pawl/platform/store/days/days";
import type { Journal } from "@pawl/platform/store/tick/journal";
import { expect, test } from "vitest";
import { setup } from "./setup.ts";
import type { OpenStore } from "./store.ts";

const owner = () => ({ tenantId: "default", workflowId: `w-${randomUUID()}` });
type Owner = ReturnType<typeof owner>;

const wish = (whose: Owner, tokens: number): DayRequest => ({
  ...whose,
  limits: { tokens: 10 },
  need: { tokens },
});

const reserve = (journal: Journal, ...requested: DayRequest[]) =>
  journal.transact((tx) => tx.moveDays({ settled: [], requested }));

const granted = (answers: readonly { readonly isGranted: boolean }[]): boolean[] =>
  answers.map(({ isGranted }) => isGranted);

/** Daily budgets on one kind of store. */
export function daySuite(openStore: OpenStore): void {
  test("runs reserve of a day until it is full, one after the other, and each workflow has its own (S2.21, X27)", async () => {
    const { journal } = await setup(openStore);
    const [a, b] = [owner(), owner()];
    const asked = [wish(a, 6), wish(b, 10), wish(a, 6), wish(a, 4), wish(a, 1)];
    const answers = await reserve(journal, ...asked);
    expect(granted(answers)).toEqual([true, true, false, true, false]);
    expect(answers[0]).toMatchObject({ spent: NOTHING });
    expect(answers[0]?.day).toMatch(/^\d{4}-\d\d-\d\d$/);
    expect(await journal.transact((tx) => tx.moveDays({ settled: [], requested: [] }))).toEqual([]);
  });

  test("a run that ends gives back what it did not use, before others reserve (X27)", async () => {
    const { journal } = await setup(openStore);
    const whose = owner();
    const [{ day } = { day: "" }] = await reserve(journal, wish(whose, 9));
    const freed = plus(NOTHING, { tokens: 9 });
    const used = plus(NOTHING, { tokens: 2, costMicros: 70, executions: 1 });
    const settled = [{ ...whose, day, freed, used }];
    const requested = [wish(whose, 8), wish(whose, 1)];
    const answers = await journal.transact((tx) => tx.moveDays({ settled, requested }));
    expect(granted(answers)).toEqual([true, false]);
    expect(answers[1]?.spent).toEqual(used);
  });

  test("a run that ends after its day was deleted settles nothing, and no later run gains room by it (X27)", async () => {
    const { journal } = await setup(openStore);
    const [other, whose] = [owner(), owner()];
    const [{ day } = { day: "" }] = await reserve(journal, wish(other, 1));
    const freed = plus(NOTHING, { tokens: 9 });
    const settled = [{ ...whose, day, freed, used: freed }];
    await journal.transact((tx) => tx.moveDays({ settled, requested: [] }));
    const requested = [wish(whose, 10), wish(whose, 1)];
    const answers = await journal.transact((tx) => tx.moveDays({ settled, requested }));
    expect(granted(answers)).toEqual([true, false]);
    expect(answers[1]?.spent).toEqual(NOTHING);
  });

  test("transactions at the same time never reserve more than the day has, and one that fails reserves nothing (X27)", async () => {
    const { journal } = await setup(openStore);
    const whose = owner();
    const failing = journal.transact(async (tx) => {
      await tx.moveDays({ settled: [], requested: [wish(whose, 10)] });
      throw new Error("killed");
    });
    await expect(failing).rejects.toThrow("killed");
    const all = await Promise.all(
      Array.from({ length: 30 }, async () => await reserve(journal, wish(whose, 1))),
    );
    expect(granted(all.flat()).filter(Boolean)).toHaveLength(10);
  });
}
