// Submits an executor's reports about its tasks to the tick. An outcome frees room when it arrives. The claim itself ends with the commit.

import { LIMITS } from "@pawl/core/data/limits";
import { utf8Bytes } from "@pawl/core/data/utf8";
import type { Outcome } from "@pawl/core/plan/result";
import type { Oversize } from "@pawl/core/plan/oversize";
import { probe } from "@pawl/platform/lifecycle/probe";
import type {
  Delta,
  Extend,
  Log,
  Outcome as WireOutcome,
  Release,
} from "@pawl/proto/pawl/worker/v1/worker_service_pb";
import type { Claim } from "../inputs/input.ts";
import { wireClaim } from "../hand-off/assignment.ts";
import { answered, type ReportParts, enter } from "./fence.ts";
import type { Session } from "./session.ts";
import { outcomeReferences, proven } from "./named-values.ts";
import { claimItem, isIndex, outcomeOf } from "./wire.ts";
import { cleanText, mediaOf } from "./wire-text.ts";

const LEVELS = new Set(["debug", "info", "warn", "error"]);

export function takeOutcome(parts: ReportParts, session: Session, wire: WireOutcome): void {
  enter(session, wire.claim, "an outcome", (claim) => {
    session.letGo(claim);
    probe("outcome.received");
    const answer = answered<never>(parts, session, claim, {
      what: "an outcome",
      onHeld: () => {},
    });
    const { externalTypes } = session;
    const submit = (outcome: Outcome): void =>
      parts.loop.submit({
        ...{ kind: "outcome", claim, outcome, externalTypes },
        jitter: Math.random(),
        answer,
      });
    const outcome = outcomeOf(wire, parts.loop.now);
    const named = outcomeReferences(outcome);
    if (named.length === 0) submit(outcome);
    else
      proven(parts.values, claim.runId, outcome, named).then(submit, (error: Error) =>
        answer.reject(error),
      );
  });
}

/** Fails a task that no message can hold, in its executor's name. So it costs neither a delivery nor a stream. */
export function failOversize(
  { loop, log }: ReportParts,
  session: Session,
  claim: Claim,
  { cause, message }: Oversize,
): void {
  log.warn({ run_id: claim.runId, node_id: claim.nodeId, cause }, message);
  session.letGo(claim);
  const about = {
    claim: { ...claim, executorId: session.executorId },
    outcome: { kind: "failed", cause, message, permanent: true, durationMs: 0 },
    jitter: 1,
    externalTypes: session.externalTypes,
  } as const;
  loop
    .ask((answer) => ({ kind: "outcome", ...about, answer }))
    // The executor does not hold the claim. Its next renewal shows that, and the scheduler hands the node out again.
    .catch((error) => log.error({ err: error, run_id: claim.runId }, "a failure was not settled"));
}

export function takeDelta(parts: ReportParts, session: Session, wire: Delta): void {
  const what = `delta ${wire.deltaIndex}`;
  enter(session, wire.claim, what, (claim) => {
    if (!isIndex(wire.deltaIndex)) return;
    const media = mediaOf(wire.media);
    const lost = media === undefined ? utf8Bytes(wire.media?.url ?? "") : 0;
    const payload = {
      deltaIndex: wire.deltaIndex,
      text: cleanText(wire.text, LIMITS.deltaBytes),
      ...(media === undefined ? {} : { media }),
      ...cutOf(lost + bytesBehind(wire.text, LIMITS.deltaBytes)),
    };
    const type = "node.stream.delta" as const;
    parts.loop.submit({
      kind: "streamed",
      fact: { ...claim, ordinal: wire.deltaIndex, type, payload },
      answer: streamed(parts, session, claim, { what, deltaCount: wire.deltaIndex + 1 }),
    });
  });
}

/** The number of bytes that `cleanText` cuts off. */
const bytesBehind = (text: string, lengthMax: number): number => utf8Bytes(text.slice(lengthMax));

/** The field that marks an event whose text was cut. */
const cutOf = (cutBytes: number): { readonly cutBytes?: number } =>
  cutBytes === 0 ? {} : { cutBytes };

export function takeLog(parts: ReportParts, session: Session, wire: Log): void {
  const what = `log line ${wire.logIndex}`;
  enter(session, wire.claim, what, (claim) => {
    if (!isIndex(wire.logIndex)) return;
    const payload = {
      logIndex: wire.logIndex,
      level: LEVELS.has(wire.level) ? wire.level : "info",
      message: cleanText(wire.message, LIMITS.logMessageBytes),
      ...cutOf(
        Math.min(Number(wire.cutBytes), Number.MAX_SAFE_INTEGER / 2) +
          bytesBehind(wire.message, LIMITS.logMessageBytes),
      ),
    };
    parts.loop.submit({
      kind: "streamed",
      fact: { ...claim, ordinal: wire.logIndex, type: "node.log", payload },
      answer: streamed(parts, session, claim, { what, logCount: wire.logIndex + 1 }),
    });
  });
}

/** An executor that stops gives a claim back. The node is queued again at once, and no delivery is counted. */
export function takeRelease(parts: ReportParts, session: Session, wire: Release): void {
  enter(session, wire.claim, "a release", (claim) => {
    session.letGo(claim);
    parts.loop.submit({
      kind: "lost",
      claim,
      reason: "released",
      executorId: session.executorId,
      answer: answered(parts, session, claim, {
        what: "a release",
        onHeld: () => session.send(claimItem("settled", claim)),
      }),
    });
  });
}

/** A task needs more time than its executor's renewals give. */
export function takeExtend(parts: ReportParts, session: Session, wire: Extend): void {
  enter(session, wire.claim, "more time", (claim) => {
    const extendMs = Math.min(Number(wire.extendMs), LIMITS.nodeTimeoutMsMax);
    parts.loop.submit({
      kind: "extend",
      extension: { ...claim, extendMs },
      answer: answered(parts, session, claim, {
        what: "more time",
        onHeld: () => {
          const value = { claim: wireClaim(claim) };
          session.send({ item: { case: "extended", value } });
        },
      }),
    });
  });
}

const streamed = (
  parts: ReportParts,
  session: Session,
  claim: Claim,
  {
    what,
    ...counts
  }: { readonly what: string; readonly deltaCount?: number; readonly logCount?: number },
) =>
  answered(parts, session, claim, {
    what,
    onHeld: () => {
      const value = { claim: wireClaim(claim), ...counts };
      session.send({ item: { case: "streamed", value } });
    },
  });
