// Named points in the code where tests make a process fail. `probe("tick.before-commit")` does nothing unless PAWL_TEST=1. Then
// PAWL_FAILPOINTS names an action for the nth time that the process passes the point:
// "outcome.received@7=kill;handler.after-run@p0.01=kill;sweep.before-take-back=block:5000".

import { writeSync } from "node:fs";

import { ConfigFault, type Env } from "../config/env.ts";

/** Every point, by the service whose processes pass it. */
const PROBE_POINTS = {
  scheduler: [
    "start.before-submit",
    "start.after-commit",
    "outcome.received",
    "tick.round-ends",
    "tick.signalled",
    "tick.signal-due",
    "tick.undo-begins",
    "tick.undone",
    "tick.before-commit",
    "tick.before-commit-of-end",
    "tick.after-commit",
    "tick.before-reply",
    "tick.timer-fired",
    "sweep.before-take-back",
    "pause.recorded",
    "pause.after-step",
    "resume.recorded",
    "schedule.after-start",
    "value.before-seal",
    "value.sealed",
    "value.before-remove",
    "archive.before-rename",
    "archive.after-write",
    "restore.before-commit",
    "retention.before-remove",
    "retention.after-remove",
    "retention.after-month",
    "temporary.before-delete",
    "temporary.after-delete",
    "bulk.begun",
    "bulk.acted",
    "removal.closed",
    "removal.step",
    "removal.before-logs",
  ],
  executor: [
    "assignment.received",
    "handler.before-run",
    "handler.after-run",
    "outcome.sent",
    "outcome.acknowledged",
    "lease.before-renew",
    "executor.drain-begun",
    "sandbox.before-run",
    "webhook.called",
  ],
  gateway: [
    "start.before-forward",
    "start.after-forward",
    "watch.after-replay",
    "watch.after-batch",
    "watch.before-end",
  ],
} as const;
export type ProbePoint = (typeof PROBE_POINTS)[keyof typeof PROBE_POINTS][number];

interface Failpoint {
  readonly point: ProbePoint;
  /** The pass at which the failpoint acts, from 1. Undefined if it acts by chance. */
  readonly hit: number | undefined;
  readonly probability: number;
  readonly action: "kill" | "stop" | "throw" | "block";
  /** How long a block lasts. */
  readonly blockMs: number;
}

let armed: readonly Failpoint[] | undefined;
const hits = new Map<ProbePoint, number>();

/** Marks a point. It costs one comparison while no test uses it. */
export const probe = (point: ProbePoint): void => {
  if (armed !== undefined) strike(armed, point);
};

/**
 * Reads PAWL_FAILPOINTS once, at start. It is ignored without PAWL_TEST=1.
 * @throws ConfigFault in production, and for a text that is not a list of failpoints
 */
export const armProbes = (env: Env): void => {
  armed = undefined;
  const text = env["PAWL_FAILPOINTS"] ?? "";
  if (text === "") return;
  if (env["PAWL_ENV"] === "production") {
    throw new ConfigFault([
      { variable: "PAWL_FAILPOINTS", expected: "must not be set in production" },
    ]);
  }
  if (env["PAWL_TEST"] !== "1") return;
  armed = parseFailpoints(text);
  hits.clear();
};

const FAILPOINT = /^([\w.-]+)(?:@(?:(\d+)|\*?p(0?\.\d+|1)))?=(?:(kill|stop|throw)|block:(\d+))$/;

const POINTS: readonly ProbePoint[] = Object.values(PROBE_POINTS).flat();

/** @throws ConfigFault */
export const parseFailpoints = (text: string): readonly Failpoint[] =>
  text
    .split(";")
    .filter((part) => part.trim() !== "")
    .map((part) => {
      const parts = FAILPOINT.exec(part.trim()) ?? [];
      const [, name, hit, probability, action = "block", blockMs = 0] = parts;
      const point = POINTS.find((known) => known === name);
      if (point === undefined) {
        const expected =
          "expected POINT[@n|@p0.01]=kill|stop|throw|block:ms, with semicolons between, and points of lifecycle/probe.ts";
        throw new ConfigFault([{ variable: "PAWL_FAILPOINTS", expected }]);
      }
      return {
        point,
        hit: hit === undefined ? (probability === undefined ? 1 : undefined) : Number(hit),
        probability: Number(probability ?? 0),
        // The pattern allows no other action.
        action: action as Failpoint["action"],
        blockMs: Number(blockMs),
      };
    });

const strike = (failpoints: readonly Failpoint[], point: ProbePoint): void => {
  const hit = (hits.get(point) ?? 0) + 1;
  hits.set(point, hit);
  for (const failpoint of failpoints) {
    if (failpoint.point !== point) continue;
    const strikes =
      failpoint.hit === undefined ? Math.random() < failpoint.probability : failpoint.hit === hit;
    if (strikes) act(failpoint, hit);
  }
};

const act = ({ point, action, blockMs }: Failpoint, hit: number): void => {
  // The write is synchronous and unbuffered: the tests count these lines, and the process may die at the next statement.
  writeSync(2, `${JSON.stringify({ msg: "failpoint", point, hit, action })}\n`);
  switch (action) {
    case "kill":
      process.kill(process.pid, "SIGKILL");
      break;
    case "stop":
      process.kill(process.pid, "SIGSTOP");
      break;
    case "throw":
      throw new Error(`failpoint ${point}`);
    case "block":
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, blockMs);
      break;
  }
};
