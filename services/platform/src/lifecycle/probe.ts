// Named points in the code where crash tests strike. `probe("S5")` does nothing unless armProbes found PAWL_TEST=1; then it tells
// listeners, and what PAWL_FAILPOINTS says of the point happens at its nth hit: "S3@7=kill;X3@p0.01=kill;S8=block:5000".

import { writeSync } from "node:fs";

import { ConfigFault, type Env } from "../config/env.ts";

type Action =
  | { readonly kind: "kill" | "stop" | "throw" }
  | { readonly kind: "block"; readonly blockMs: number };

interface Failpoint {
  readonly point: string;
  /** The hit that strikes, from 1; undefined strikes by chance. */
  readonly hit: number | undefined;
  readonly probability: number;
  readonly action: Action;
}

interface Armed {
  readonly failpoints: readonly Failpoint[];
  readonly hits: Map<string, number>;
}

let armed: Armed | undefined;
const listeners = new Set<(point: string) => void>();

/** A named point. Costs a comparison when nothing is armed. */
export const probe = (point: string): void => {
  if (listeners.size > 0) for (const listener of listeners) listener(point);
  if (armed !== undefined) strike(armed, point);
};

/** Calls `listener` at each point passed in this process, synchronously; for tests. Returns what takes it off again. */
export const listenToProbes = (listener: (point: string) => void): (() => void) => {
  listeners.add(listener);
  return () => void listeners.delete(listener);
};

/**
 * Reads PAWL_FAILPOINTS once, at start. Without PAWL_TEST=1 they are left alone.
 * @throws ConfigFault in production, and when they cannot be read
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
  armed = { failpoints: parseFailpoints(text), hits: new Map() };
};

const FAILPOINT = /^(\w+)(?:@(?:(\d+)|\*?p(0?\.\d+|1)))?=(kill|stop|throw|block:(\d+))$/;

/** @throws ConfigFault */
export const parseFailpoints = (text: string): readonly Failpoint[] =>
  text
    .split(";")
    .filter((part) => part.trim() !== "")
    .map((part) => {
      const match = FAILPOINT.exec(part.trim());
      if (match === null) {
        const expected =
          "expected POINT[@n|@p0.01]=kill|stop|throw|block:ms, with semicolons between";
        throw new ConfigFault([{ variable: "PAWL_FAILPOINTS", expected }]);
      }
      const [, point = "", hit, probability, action = "", blockMs] = match;
      return {
        point,
        hit: hit === undefined ? (probability === undefined ? 1 : undefined) : Number(hit),
        probability: Number(probability ?? 0),
        action: actionOf(action, blockMs),
      };
    });

const actionOf = (text: string, blockMs: string | undefined): Action => {
  if (blockMs !== undefined) return { kind: "block", blockMs: Number(blockMs) };
  return { kind: text === "stop" || text === "throw" ? text : "kill" };
};

const strike = ({ failpoints, hits }: Armed, point: string): void => {
  const hit = (hits.get(point) ?? 0) + 1;
  hits.set(point, hit);
  for (const failpoint of failpoints) {
    if (failpoint.point !== point) continue;
    const strikes =
      failpoint.hit === undefined ? Math.random() < failpoint.probability : failpoint.hit === hit;
    if (strikes) act(failpoint.action, point, hit);
  }
};

const act = (action: Action, point: string, hit: number): void => {
  // Synchronous and unbuffered: the harness counts observed hits, and the process may be gone with the next line.
  writeSync(2, `${JSON.stringify({ msg: "failpoint", point, hit, action: action.kind })}\n`);
  switch (action.kind) {
    case "kill":
      process.kill(process.pid, "SIGKILL");
      break;
    case "stop":
      process.kill(process.pid, "SIGSTOP");
      break;
    case "throw":
      throw new Error(`failpoint ${point}`);
    case "block":
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, action.blockMs);
      break;
  }
};
