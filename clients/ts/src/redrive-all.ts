// A redrive of any number of dead letters, call after call. Each call is bounded in time and number by the server; the next one goes
// on where it stopped. Every call has a request id made of the first, so that the whole may be begun again under that and doubles nothing.

import type { LeftDeadLetters, RedrivenLetter } from "@pawl/proto/pawl/v1/queue_service_pb";
import type { DeadLetters, RedriveOptions } from "./queues.ts";

/** Of one request, as the server has it. */
const LIMIT_MAX = 1_000;

/** Where a redrive of many stands. */
export interface RedriveStep {
  /** What was redriven since the step before. */
  readonly redriven: readonly RedrivenLetter[];
  /** How many in all. */
  readonly redrivenCount: number;
  /** What match still and could be redriven, counted up to 1,000; 0 once there is nothing more to do. */
  readonly remaining: number;
  /** What is left as it is, and why. */
  readonly left: readonly LeftDeadLetters[];
}

/** Redrives all that match, or `limit` of them; a step for each call. It ends when a call finds nothing that it could redrive. */
export async function* redriveAll(
  redrive: DeadLetters["redrive"],
  options: RedriveOptions & { readonly requestId: string },
): AsyncGenerator<RedriveStep, void> {
  const { ids = [], limit: wanted = ids.length > 0 ? ids.length : Infinity, requestId } = options;
  let redrivenCount = 0;
  for (let request = 1; redrivenCount < wanted; request++) {
    const limit = Math.min(LIMIT_MAX, wanted - redrivenCount);
    const own = request === 1 ? requestId : `${requestId}.${request}`;
    let told = 0;
    let isOver = false;
    while (!isOver) {
      const answer = await redrive({ ...options, limit, requestId: own });
      const redriven = answer.redriven.slice(told);
      told = answer.redriven.length;
      const { remaining, left } = answer;
      // What this request has not come to yet is its own; beyond its limit the next one goes on.
      isOver = remaining === 0 || told >= limit || redriven.length === 0;
      yield { redriven, redrivenCount: redrivenCount + told, remaining, left };
      if (remaining === 0 || redriven.length === 0) return;
    }
    redrivenCount += told;
  }
}
