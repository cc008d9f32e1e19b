// F21: the event loop of a process is blocked for longer than its claims live.
import { until } from "../../support/until.ts";
import type { Fault } from "../fault.ts";

const BLOCK_MS = 6_000;
const BLOCKED_WITHIN_MS = 30_000;

/** The processes that are frozen by turns: an executor after an effect and before its report, and a scheduler after a commit and before its answer. */
const TURNS = [
  { service: "executor", point: "handler.after-run", hit: 4 },
  { service: "scheduler", point: "tick.after-commit", hit: 20 },
] as const;

export const blockedLoop: Fault = {
  id: "F21",
  title: "event loop blocked",
  hits: { short: 1, smoke: 2, full: 10 },
  gapMs: [200, 600],
  isFencing: true,
  strike: async ({ cluster }, nth) => {
    const { service, point, hit } = TURNS[nth % TURNS.length] ?? TURNS[0];
    const group = service === "executor" ? cluster.executors : cluster.schedulers;
    const target = group[Math.floor(nth / TURNS.length) % group.length];
    if (target === undefined) throw new Error("nobody to block");
    const linesBefore = lines(target.logs());
    const others = group.filter((member) => member !== target);
    await target.restart({
      PAWL_TEST: "1",
      PAWL_FAILPOINTS: `${point}@${hit}=block:${BLOCK_MS}`,
    });
    const blockedAt = until(() => lines(target.logs()) > linesBefore, {
      what: `${target.name} to be blocked`,
      timeoutMs: BLOCKED_WITHIN_MS,
    }).then(
      () => Date.now(),
      () => undefined,
    );
    // Executors that left it do not return by themselves, and an idle scheduler reaches no failpoint. The others stop, so that they return.
    if (service === "scheduler")
      for (const member of others) {
        await member.stop();
        await member.restart();
      }
    const seenAt = await blockedAt;
    const isObserved = seenAt !== undefined;
    const at = seenAt ?? Date.now();
    await until(() => Date.now() - at > BLOCK_MS, { what: "the end of the block" });
    return { target: target.name, detail: point, isObserved, at, overAt: Date.now() };
  },
};

const lines = (logs: string): number => logs.split('"msg":"failpoint"').length;
