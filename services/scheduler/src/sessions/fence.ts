// All reports of executors about their claims pass through this file. A report names a claim, and this file adds the id of the executor.
// The transaction compares it, so an executor can report about its own claims only. If the transaction refuses a report, the scheduler
// answers ClaimLost or Settled. It answers Settled if the claim ended with the executor's own outcome. Every report with a stale epoch gets
// the same answer.
//
// Race: an executor repeats an unanswered report while the first one is on its way to the store. In an outage it does so many times. The
// scheduler keeps only the first report and answers each repeat, so repeats cost no memory.

import { METRICS } from "@pawl/platform/telemetry/catalogue";
import type { Logger } from "@pawl/platform/telemetry/log";
import type { Claim as WireClaim } from "@pawl/proto/pawl/worker/v1/worker_service_pb";
import type { ValueStore } from "@pawl/platform/values/value-store";
import { isQuarantined } from "../inputs/quarantine.ts";
import type { Answer, Claim, NamedClaim } from "../inputs/input.ts";
import type { TickLoop } from "../tick/loop.ts";
import type { Session } from "./session.ts";
import { claimItem, claimOf } from "./wire.ts";

export interface ReportParts {
  readonly loop: TickLoop;
  readonly log: Logger;
  readonly values: Pick<ValueStore, "rows">;
}

/**
 * Calls `submit` with the claim that an item names. The scheduler answers ClaimLost if the item names an impossible claim. `what` names the
 * item for `answered`.
 */
export function enter(
  session: Session,
  wire: WireClaim | undefined,
  what: string,
  submit: (claim: NamedClaim) => void,
): void {
  const claim = claimOf(wire);
  if (claim !== undefined) {
    if (!isRepeat(session, keyOf(what, claim)))
      submit({ ...claim, executorId: session.executorId });
    return;
  }
  // Without an answer the executor would repeat the report for ever.
  const value = wire === undefined ? {} : { claim: wire };
  session.send({ item: { case: "claimLost", value } });
}

/** The answer to a report: `onHeld` if the tick accepted it, otherwise ClaimLost or Settled. */
export function answered<T>(
  { log }: ReportParts,
  session: Session,
  claim: Claim,
  { what, onHeld }: { readonly what: string; readonly onHeld: (value: T) => void },
): Answer<T | "settled" | "stale"> {
  const key = keyOf(what, claim);
  session.inHand.set(key, 1);
  const respond = (value: T | "settled" | "stale"): void => {
    if (value === "stale") fence(log, session, claim);
    else if (value === "settled") session.send(claimItem("settled", claim));
    else onHeld(value);
  };
  return {
    resolve: (value) => {
      const times = session.inHand.get(key) ?? 1;
      session.inHand.delete(key);
      for (let time = 0; time < times; time += 1) respond(value);
    },
    // The executor repeats reports that are not acknowledged.
    reject: (error) => {
      session.inHand.delete(key);
      if (isQuarantined(error)) fence(log, session, claim);
      else log.error({ err: error, ...fields(claim) }, `${what} was not settled`);
    },
  };
}

/** Sends ClaimLost: the executor does not hold the claim any more. */
export function fence(log: Logger, session: Session, claim: Claim): void {
  METRICS.claimsFenced.add(1);
  log.info({ ...fields(claim), executor_id: session.executorId }, "refused a stale claim");
  session.letGo(claim);
  session.send(claimItem("claimLost", claim));
}

function isRepeat({ inHand }: Session, key: string): boolean {
  const times = inHand.get(key);
  if (times !== undefined) inHand.set(key, times + 1);
  return times !== undefined;
}

const keyOf = (what: string, { runId, nodeId, iteration, epoch }: Claim): string =>
  `${what} of ${runId}/${nodeId}/${iteration}/${epoch}`;

const fields = (claim: Claim) => ({
  run_id: claim.runId,
  node_id: claim.nodeId,
  epoch: claim.epoch,
});
