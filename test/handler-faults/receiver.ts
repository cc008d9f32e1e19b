// The outside world of the fault test: an HTTP receiver that counts deliveries by effect key, and stops a handler at one point of its way.
// The race it names: the struck handler and its successor visit the same points. Only the first visit of the wanted point is held.
import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { LOOPBACK } from "@pawl/deploy/ports.ts";

/** Where a handler is when the fault strikes, in its order. `inside`: the receiver has the effect and has not answered. */
export const POINTS = ["before", "begun", "inside", "made", "after"] as const;
export type Point = (typeof POINTS)[number];

/** One handler that reached the point of its trial. */
export type Held = {
  /** The name of its process. */
  readonly process: string;
  /** Lets the handler continue. */
  release(): void;
};

type Seen = {
  readonly point: Point;
  readonly reached: PromiseWithResolvers<Held>;
  isReached: boolean;
  /** Processes whose function has returned, in order. */
  readonly ended: string[];
  /** By effect key. */
  readonly deliveries: Map<string, number>;
};

export type Receiver = {
  readonly url: string;
  /** Announces a trial, before its run starts. Settles when a handler of it is at the point. */
  expect(trial: string, point: Point): Promise<Held>;
  /** Deliveries of a trial by effect key. */
  deliveries(trial: string): ReadonlyMap<string, number>;
  /** Whether a function of the trial has returned in this process. */
  hasEnded(trial: string, process: string): boolean;
  stop(): Promise<void>;
};

/** Starts it on a free port. */
export async function startReceiver(): Promise<Receiver> {
  const trials = new Map<string, Seen>();
  const seen = (trial: string): Seen => {
    const found = trials.get(trial);
    if (found === undefined) throw new Error(`no trial ${trial}`);
    return found;
  };
  const server = createServer((request, response) => {
    request.resume();
    const trial = trials.get(String(request.headers["x-trial"]));
    const process = String(request.headers["x-process"]);
    const path = (request.url ?? "/").slice(1);
    if (trial === undefined) return answer(response, 404);
    if (path === "ended") trial.ended.push(process);
    if (path === "effect") {
      const key = String(request.headers["idempotency-key"]);
      trial.deliveries.set(key, (trial.deliveries.get(key) ?? 0) + 1);
    }
    const isWanted = (path === "effect" ? "inside" : path) === trial.point;
    if (!isWanted || trial.isReached) return answer(response, 200);
    trial.isReached = true;
    trial.reached.resolve({ process, release: () => answer(response, 200) });
  });
  server.listen(0, LOOPBACK);
  await once(server, "listening");
  // A server listening on TCP always has such an address.
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://${LOOPBACK}:${port}`,
    expect: (trial, point) => {
      const reached = Promise.withResolvers<Held>();
      trials.set(trial, { point, reached, isReached: false, ended: [], deliveries: new Map() });
      return reached.promise;
    },
    deliveries: (trial) => seen(trial).deliveries,
    hasEnded: (trial, process) => seen(trial).ended.includes(process),
    stop: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

/** The handler may be dead by now: then the answer goes nowhere. */
function answer(response: ServerResponse, status: number): void {
  if (response.destroyed || response.writableEnded) return;
  response.writeHead(status);
  response.end("receipt");
}
