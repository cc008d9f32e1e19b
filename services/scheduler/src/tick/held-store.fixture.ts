// For tests of two ticks at a time: a store whose commits wait for the test and may fail, and executors whose outputs name their inputs.

import { EngineError } from "@pawl/core/fault/engine-error";
import type { Timers } from "@pawl/platform/lifecycle/timers";
import { RunMoved } from "@pawl/platform/store/tick/journal";
import { createMemoryStore } from "@pawl/platform/store/memory/store";
import { turns } from "../../../../test/support/until.ts";
import { claimOf } from "../sessions/wire.ts";
import type { Claim } from "../inputs/input.ts";
import type { connect, Engine } from "./tick.fixture.ts";

/** How a commit ends: it works, another writer was first, or it works and the connection breaks before the answer. */
export type Fate = "works" | "moved" | "unanswered";

/** A store whose commits, once `hold` is called, wait until the test lets each go. */
export function createHeldStore(now: () => number) {
  const store = createMemoryStore({ now });
  const waiting: ((fate: Fate) => void)[] = [];
  let isHolding = false;
  const { journal } = store;
  const transact: typeof journal.transact = async (work, onSent) => {
    let fate: Fate = "works";
    const result = await journal.transact(async (tx) => {
      const done = await work(tx);
      onSent?.();
      if (isHolding) fate = await new Promise<Fate>((resolve) => waiting.push(resolve));
      if (fate === "moved") throw new RunMoved("a run moved on");
      return done;
    });
    // The compiler sees only the first value of it.
    if ((fate as Fate) === "unanswered")
      throw new EngineError("STORE_UNAVAILABLE", "the connection broke");
    return result;
  };
  return {
    ...store,
    journal: { ...journal, transact },
    /** How many commits wait now. */
    waitingCount: (): number => waiting.length,
    hold: (): void => void (isHolding = true),
    /** Lets the oldest commit go. */
    letGo: (fate: Fate = "works"): void => waiting.shift()?.(fate),
    /** Lets all commits go, and those that follow. */
    letAllGo: (): void => {
      isHolding = false;
      for (const go of waiting.splice(0)) go("works");
    },
  };
}

/** A task as an executor has it. */
export interface Task {
  readonly claim: Claim;
  /** Outputs of the nodes before, by id. */
  readonly nodes: Readonly<Record<string, unknown>>;
}

type Executor = ReturnType<typeof connect>;

/** The messages since the last call: tasks assigned, and claims taken away. */
export function received({ items }: Executor): { readonly given: Task[]; readonly lost: Claim[] } {
  const given: Task[] = [];
  const lost: Claim[] = [];
  for (const { item } of items.splice(0)) {
    if (item.case === "assignment") {
      const claim = claimOf(item.value.claim);
      const { nodes = {} } = JSON.parse(Buffer.from(item.value.contextJson).toString());
      if (claim !== undefined) given.push({ claim, nodes });
    } else if (item.case === "claimLost") {
      const claim = claimOf(item.value.claim);
      if (claim !== undefined) lost.push(claim);
    }
  }
  return { given, lost };
}

/** Reports an outcome. */
export function report(
  engine: Engine,
  { session }: Executor,
  claim: Claim,
  output: unknown = {},
): Promise<"settled" | "stale"> {
  session.letGo(claim);
  const outputJson = JSON.stringify(output);
  const claimed = { ...claim, executorId: session.executorId };
  return engine.outcome(claimed, { kind: "completed", outputJson, durationMs: 1 });
}

/** Timers that fire in the next turn, so that `quiet` is long enough for a batch that waits to grow. */
export const promptTimers: Timers = {
  after: (_ms, wake) => {
    let isCancelled = false;
    void turns(1).then(() => !isCancelled && wake());
    return () => void (isCancelled = true);
  },
};

/** Lets everything happen that waits for no time and no test. */
export const quiet = (): Promise<void> => turns(12);
