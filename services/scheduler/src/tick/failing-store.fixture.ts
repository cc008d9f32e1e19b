// A memory store whose commits fail as a test says, by the runs they are about.

import type { RunId } from "@pawl/core/name/ids";
import { createMemoryStore } from "@pawl/platform/store/memory/store";
import type { Journal, Transaction } from "@pawl/platform/store/tick/journal";
import type { Store } from "./tick.fixture.ts";

/** An error of the database, as pg throws it. */
export const pgError = (code: string): Error =>
  Object.assign(new Error(`refused with ${code}`), { code });

export interface FailingStore extends Store {
  /** Throws to fail a commit; called with the runs it would change, or with none for a probe. */
  judge: (runIds: ReadonlySet<RunId>) => void;
  /** How many commits were tried. */
  tries: number;
}

export function createFailingStore(now: () => number): FailingStore {
  const store = createMemoryStore({ now });
  const failing: FailingStore = { ...store, judge: () => {}, tries: 0 };
  const transact: Journal["transact"] = (work, onSent) =>
    store.journal.transact(async (tx) => {
      const seen = new Set<RunId>();
      const result = await work(watched(tx, seen));
      onSent?.();
      failing.tries += 1;
      if (seen.size > 0) failing.judge(seen);
      return result;
    });
  const probe = async (): Promise<void> => failing.judge(new Set());
  return Object.assign(failing, {
    journal: { ...store.journal, transact },
    recovery: { ...store.recovery, probe },
  });
}

/** Notes the runs that a transaction writes to. */
const watched = (tx: Transaction, seen: Set<RunId>): Transaction =>
  new Proxy(tx, {
    get(target, key) {
      const method: unknown = Reflect.get(target, key);
      if (typeof method !== "function") return method;
      return (...args: readonly unknown[]): unknown => {
        if (key === "advance" || key === "insertRuns")
          for (const { runId } of args[0] as readonly { readonly runId: RunId }[]) seen.add(runId);
        return Reflect.apply(method, target, args);
      };
    },
  });
