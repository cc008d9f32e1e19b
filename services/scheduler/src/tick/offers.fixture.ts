// For tests of offers: a store whose commits wait for a word and may fail, and executors whose outputs say what they were made of.

import { EngineError } from "@pawl/core/fault/engine-error";
import { RunMoved } from "@pawl/platform/store/journal";
import { createMemoryStore } from "@pawl/platform/store/memory/memory-store";
import { turns } from "../../../../test/support/until.ts";
import { claimOf } from "../work/wire.ts";
import type { Claim } from "./input.ts";
import type { connect, Engine } from "./tick.fixture.ts";

/** Types that the executors of these tests take as offers. */
export const INSTANT = ["start", "noop"];

/** How a commit goes: it works, another writer was faster, or it works and nobody hears of it. */
export type Fate = "works" | "moved" | "unheard";

/** A store whose commits, once `hold` is called, wait until each is let go. */
export function createHeldStore(now: () => number) {
  const store = createMemoryStore({ now });
  const waiting: ((fate: Fate) => void)[] = [];
  let isHolding = false;
  const { journal } = store;
  const transact: typeof journal.transact = async (work) => {
    let fate: Fate = "works";
    const result = await journal.transact(async (tx) => {
      const done = await work(tx);
      if (isHolding) fate = await new Promise<Fate>((resolve) => waiting.push(resolve));
      if (fate === "moved") throw new RunMoved("a run moved on");
      return done;
    });
    // What the compiler sees of it is the first value only.
    if ((fate as Fate) === "unheard")
      throw new EngineError("STORE_UNAVAILABLE", "the connection broke");
    return result;
  };
  return {
    ...store,
    journal: { ...journal, transact },
    /** Commits that wait now. */
    waitingCount: (): number => waiting.length,
    hold: (): void => void (isHolding = true),
    /** Lets the commit that waits longest go. */
    letGo: (fate: Fate = "works"): void => waiting.shift()?.(fate),
    /** Lets all go, and those that come. */
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

/** What a scheduler said since the last look: tasks given, and claims taken away. */
export function hear({ items }: Executor): { readonly given: Task[]; readonly lost: Claim[] } {
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

/** Reports an outcome as the door takes it; undefined where the offer is not the session's any more. */
export function report(
  engine: Engine,
  { session }: Executor,
  claim: Claim,
  output: unknown = {},
): Promise<"settled" | "stale"> | undefined {
  const known = session.recognise(claim);
  if (known === undefined) return undefined;
  session.letGo(known);
  const outputJson = JSON.stringify(output);
  const claimed = { ...known, executorId: session.executorId };
  return engine.outcome(claimed, { kind: "completed", outputJson, durationMs: 1 });
}

/** Lets everything that can happen by itself happen. */
export const quiet = (): Promise<void> => turns(8);
