// The questions of a scheduler to a store when its commits fail: which log is torn, which row is locked, and whether the store takes
// writes.

import { recheckRun } from "@pawl/scheduler/commands/recheck-run";
import { expect, test } from "vitest";
import { finish, runUpTo, stage } from "./recovery-setup.ts";
import type { OpenStore } from "./store.ts";

export function strays(open: OpenStore): void {
  test("an event behind the end of a log is found, and refuses a recheck until it is gone (S0.37)", async () => {
    const scene = await stage(open);
    const { store, begin } = scene;
    const { runId: torn } = await runUpTo(scene, "b");
    const { runId: well } = await runUpTo(scene, "b");
    const lastSeq = (await store.see(torn)).run?.lastSeq ?? 0;
    const mend = await store.strayEvent(torn);
    expect(await store.recovery.tornRuns([torn, well])).toEqual([
      { runId: torn, straySeq: lastSeq + 1 },
    ]);
    const engine = begin();
    const request = { runId: torn, requestId: "" };
    await expect(recheckRun(engine, request)).rejects.toMatchObject({
      reason: "EVENT_LOG_CORRUPTION",
    });
    await mend();
    expect(await store.recovery.tornRuns([torn, well])).toEqual([]);
    expect(await recheckRun(engine, request)).toBe(torn);
    await finish(engine, store, torn);
    await finish(engine, store, well);
  });

  test("a probe leaves nothing behind, and no run is locked by those who are done with it", async () => {
    const scene = await stage(open);
    const { runId } = await runUpTo(scene, "b");
    const before = await scene.store.see(runId);
    await scene.store.recovery.probe();
    expect(await scene.store.recovery.lockedRuns([runId])).toEqual([]);
    expect(await scene.store.see(runId)).toEqual(before);
  });
}
