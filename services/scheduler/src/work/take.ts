// What an executor says about its tasks, offered to the tick. Room is free again the moment an outcome arrives; the claim
// itself ends with the commit.

import { create } from "@bufbuild/protobuf";
import { LIMITS } from "@pawl/core/data/limits";
import { probe } from "@pawl/platform/lifecycle/probe";
import { METRICS } from "@pawl/platform/telemetry/catalogue";
import type { Logger } from "@pawl/platform/telemetry/log";
import {
  ClaimSchema,
  type Delta,
  type Log,
  type Outcome,
  type Release,
  SchedulerItemSchema,
} from "@pawl/proto/pawl/worker/v1/worker_service_pb";
import { isQuarantined } from "../recover/quarantine.ts";
import type { Claim } from "../tick/input.ts";
import type { TickLoop } from "../tick/loop.ts";
import type { Session } from "./session.ts";
import { claimItem, claimOf, cleanText, isIndex, mediaOf, outcomeOf } from "./wire.ts";

interface TakeParts {
  readonly loop: TickLoop;
  readonly log: Logger;
}

const LEVELS = new Set(["debug", "info", "warn", "error"]);

export function takeOutcome({ loop, log }: TakeParts, session: Session, wire: Outcome): void {
  const claim = claimOf(wire.claim);
  if (claim === undefined) {
    // Without an answer the executor would say it again for ever.
    const value = wire.claim === undefined ? {} : { claim: wire.claim };
    session.send(create(SchedulerItemSchema, { item: { case: "claimLost", value } }));
    return;
  }
  session.letGo(claim);
  probe("S3");
  loop.offer({
    kind: "outcome",
    claim,
    outcome: outcomeOf(wire),
    jitter: Math.random(),
    answer: {
      resolve: (result) => {
        if (result === "stale") fence(log, session, claim);
        else session.send(claimItem("settled", claim));
      },
      // The executor keeps the outcome and says it again when it reconnects.
      reject: (error) => {
        if (isQuarantined(error)) fence(log, session, claim);
        else log.error({ err: error, ...fields(claim) }, "an outcome was not settled");
      },
    },
  });
}

export function takeDelta(parts: TakeParts, session: Session, wire: Delta): void {
  const claim = claimOf(wire.claim);
  if (claim === undefined || !isIndex(wire.deltaIndex)) return;
  const media = mediaOf(wire.media);
  const payload = {
    deltaIndex: wire.deltaIndex,
    text: cleanText(wire.text, LIMITS.deltaBytes),
    ...(media === undefined ? {} : { media }),
  };
  const fact = { ...claim, ordinal: wire.deltaIndex, type: "node.stream.delta" as const, payload };
  parts.loop.offer({
    kind: "streamed",
    fact,
    answer: streamed(parts, session, claim, { deltaCount: wire.deltaIndex + 1 }),
  });
}

export function takeLog(parts: TakeParts, session: Session, wire: Log): void {
  const claim = claimOf(wire.claim);
  if (claim === undefined || !isIndex(wire.logIndex)) return;
  const payload = {
    logIndex: wire.logIndex,
    level: LEVELS.has(wire.level) ? wire.level : "info",
    message: cleanText(wire.message, LIMITS.logMessageBytes),
  };
  const fact = { ...claim, ordinal: wire.logIndex, type: "node.log" as const, payload };
  parts.loop.offer({
    kind: "streamed",
    fact,
    answer: streamed(parts, session, claim, { logCount: wire.logIndex + 1 }),
  });
}

/** A claim given back at a graceful stop: queued again at once, at no cost. */
export function takeRelease({ loop, log }: TakeParts, session: Session, wire: Release): void {
  const claim = claimOf(wire.claim);
  if (claim === undefined) return;
  session.letGo(claim);
  loop.offer({
    kind: "lost",
    claim,
    reason: "released",
    executorId: session.executorId,
    answer: {
      resolve: () => session.send(claimItem("settled", claim)),
      reject: (error) => log.error({ err: error, ...fields(claim) }, "a release was not settled"),
    },
  });
}

/** Tells an executor that a claim is not its own any more. */
export function fence(log: Logger, session: Session, claim: Claim): void {
  METRICS.claimsFenced.add(1);
  log.info({ ...fields(claim), executor_id: session.executorId }, "refused a stale claim");
  session.letGo(claim);
  session.send(claimItem("claimLost", claim));
}

function streamed(
  { log }: TakeParts,
  session: Session,
  claim: Claim,
  counts: { readonly deltaCount?: number; readonly logCount?: number },
) {
  return {
    resolve: () => {
      const value = {
        claim: create(ClaimSchema, { ...claim, epoch: BigInt(claim.epoch) }),
        ...counts,
      };
      session.send(create(SchedulerItemSchema, { item: { case: "streamed", value } }));
    },
    reject: (error: unknown) =>
      log.error({ err: error, ...fields(claim) }, "partial output was not kept"),
  };
}

const fields = (claim: Claim) => ({
  run_id: claim.runId,
  node_id: claim.nodeId,
  epoch: claim.epoch,
});
