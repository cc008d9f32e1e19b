import { EngineError } from "@pawl/core/fault/engine-error";
import { type RunId, runId } from "@pawl/core/name/ids";
import { expect, test } from "vitest";
import type { Answer, Input } from "../inputs/input.ts";
import { deleteWithRuns, type Holders } from "./delete-with-runs.ts";

const LIVE_MAX = 1_000;

const ids = (count: number): RunId[] => Array.from({ length: count }, (_, n) => runId(`r${n}`));

/** An assistant with live runs. `stuck` are those that a cancellation does not end; `isLate`: a run ends between the close and the list. */
function holder(runs: readonly RunId[], stuck: readonly RunId[] = [], isLate = false) {
  const live = new Set(runs);
  const seen = { closes: 0, removed: false };
  const holders: Holders<string> = {
    close: async () => {
      seen.closes += 1;
      return live.size > 0 ? "busy" : "closed";
    },
    liveRuns: async () => {
      if (isLate) live.clear();
      return [...live].slice(0, LIVE_MAX);
    },
    removeSome: async () => {
      seen.removed = true;
      return "removed";
    },
  };
  const loop = {
    ask: async <T>(input: (answer: Answer<T>) => Input): Promise<T> => {
      const asked = input({} as Answer<T>);
      if (asked.kind === "cancel" && !stuck.includes(asked.runId)) live.delete(asked.runId);
      return undefined as T;
    },
  };
  const refused = (reason: "ASSISTANT_NOT_FOUND" | "ASSISTANT_BUSY") => () =>
    new EngineError(reason, "refused", { metadata: { assistant_id: "a" } });
  const remove = (force: boolean): Promise<void> =>
    deleteWithRuns(holders, loop, {
      ...{ key: "a", force, reason: "deleted" },
      missing: refused("ASSISTANT_NOT_FOUND"),
      busy: refused("ASSISTANT_BUSY"),
    });
  return { seen, remove };
}

test("a forced deletion cancels every live run, however many rounds that takes (S4.22)", async () => {
  const { seen, remove } = holder(ids(8 * LIVE_MAX));
  await remove(true);
  expect(seen).toEqual({ closes: 9, removed: true });
});

test("a forced deletion gives up on a run that does not end, and nothing is removed (S4.22)", async () => {
  const [stuck] = ids(1);
  const { seen, remove } = holder(ids(3), stuck && [stuck]);
  await expect(remove(true)).rejects.toMatchObject({ reason: "ASSISTANT_BUSY" });
  expect(seen).toEqual({ closes: 6, removed: false });
});

test("a deletion without force is refused while a run lives, and passes if it ends meanwhile (S4.22)", async () => {
  await expect(holder(ids(1)).remove(false)).rejects.toMatchObject({ reason: "ASSISTANT_BUSY" });
  const { seen, remove } = holder(ids(1), [], true);
  await remove(false);
  expect(seen).toEqual({ closes: 2, removed: true });
});
