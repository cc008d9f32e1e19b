// Explains why a node ended as it did: by its own result, or because of its parents.

import * as z from "zod";
import { classOf } from "../fault/cause.ts";
import { FAILURE_CLASSES, type FailureClass } from "../fault/class.ts";
import { edgeEffect } from "../log/edge-effect.ts";
import { SETTLING_TYPES } from "../log/meaning.ts";
import type { GraphEdge } from "../definition/graph.ts";
import type { NodeState } from "../log/state.ts";
import { LOST_ADVICE } from "../plan/exhausted.ts";
import { nodeStateAt } from "../plan/place.ts";
import { own, textOf, type Answer, type Case, ofNode } from "./case.ts";
import type { Cited } from "./proofs.ts";
import { durationText, listText } from "./words.ts";

const NOTHING = "Nothing: it is settled.";

/** A node that completed. */
export function explainCompleted(asked: Case): Answer {
  const completed = own(asked, "node.completed");
  const { handle, attempt } = asked.nodeState;
  const ms = Number(completed?.payload["durationMs"] ?? 0);
  const failure = handledFailure(asked.nodeState);
  if (failure !== undefined)
    return {
      reason: "COMPLETED",
      summary: `It failed with ${failure.cause}: ${failure.message}, and left by handle error, by its error handling.`,
      evidence: [own(asked, "node.started"), own(asked, "run.recovered")],
      next: NOTHING,
      since: completed,
    };
  const left = handle === undefined ? "" : ` and left by handle ${handle}`;
  return {
    reason: "COMPLETED",
    summary: `Attempt ${attempt} completed in ${durationText(ms)}${left}.`,
    evidence: [own(asked, "node.started")],
    next: NOTHING,
    since: completed,
  };
}

/** The failure that a node handled. Undefined for an output of the handler. */
export function handledFailure({ handle, output }: Pick<NodeState, "handle" | "output">) {
  if (handle !== "error" || output === undefined) return undefined;
  const found = HANDLED.safeParse(JSON.parse(output));
  if (!found.success) return undefined;
  const { cause, message, failure_class: named } = found.data.error;
  return { cause, message, failureClass: named ?? classOf({ cause }) };
}

const FAILURE_CLASS_NAMES = Object.keys(FAILURE_CLASSES) as FailureClass[];
// Outputs of earlier versions have no class.
const HANDLED = z.object({
  error: z.object({
    cause: z.string(),
    message: z.string(),
    failure_class: z.enum(FAILURE_CLASS_NAMES).optional(),
  }),
});

/** A node that failed by itself, because of its parents, or because executors died. */
export function explainFailed(asked: Case): Answer {
  const failed = own(asked, "node.failed");
  const cause = textOf(failed, "cause", "unknown");
  if (cause === "upstream_failure") return upstream(asked, failed);
  const base = { evidence: [own(asked, "node.started")], since: failed };
  if (cause === "delivery_exhausted")
    return {
      ...base,
      evidence: [own(asked, "run.recovered"), failed],
      reason: "DELIVERY_EXHAUSTED",
      summary: `Its executors died or stopped answering ${asked.nodeState.lostDeliveries} times while they held it, so the scheduler gives it to no other executor.`,
      next: `${LOST_ADVICE}. Then redrive the dead letter, or repair the run.`,
    };
  const { attempts } = asked.node.definition.retry;
  return {
    ...base,
    reason: "FAILED",
    summary: `Attempt ${Math.max(1, asked.nodeState.attempt)} of ${attempts} failed with ${cause}: ${asked.nodeState.message ?? "no message"}.`,
    next: "Correct what the message names, or give the node a retry policy or an error edge.",
  };
}

export function explainTimedOut(asked: Case): Answer {
  const timedOut = own(asked, "node.timed_out");
  const ms = Number(timedOut?.payload["timeoutMs"] ?? asked.node.definition.timeoutMs);
  return {
    reason: "TIMED_OUT",
    summary: `Attempt ${asked.nodeState.attempt} took longer than its limit of ${durationText(ms)}.`,
    evidence: [own(asked, "node.started")],
    next: "Raise timeout_ms of the node, or make its work shorter.",
    since: timedOut,
  };
}

export function explainCancelled(asked: Case): Answer {
  const cancelled = own(asked, "node.cancelled");
  const ended = asked.proofs.newest("", 0, "run.cancelled", "run.failed", "run.timed_out");
  return {
    reason: "CANCELLED",
    summary: `It was cancelled: ${asked.nodeState.message || "no reason was given"}.`,
    evidence: [ended],
    next: "Start the run again if its result is still wanted.",
    since: cancelled,
  };
}

/** A node that no taken edge led to, or that its policy skips. */
export function explainSkipped(asked: Case): Answer {
  const skipped = own(asked, "node.skipped");
  if (skipped?.payload["reason"] === "parent_not_completed") {
    const failed = parentsThat(asked, "failed");
    const parents = failed.length > 0 ? failed : parentsThat(asked, "untaken");
    const { onParentFailure } = asked.node.definition;
    return {
      reason: "PARENT_NOT_COMPLETED",
      summary: `${parentsText(parents)} did not complete, and its policy on_parent_failure is ${onParentFailure}.`,
      evidence: parents.map(({ event }) => event),
      next: "Correct the parent; or choose another on_parent_failure.",
      since: skipped,
    };
  }
  const ways = parentsThat(asked, "untaken");
  return {
    reason: "UNTAKEN_BRANCH",
    summary: `No branch led here: ${listText(ways.map(wayText))}.`,
    evidence: ways.map(({ event }) => event),
    next: "If that branch was meant, do nothing; otherwise check the condition and its input.",
    since: skipped,
  };
}

const parentsText = (parents: readonly Parent[]): string =>
  listText(parents.map(({ id, status }) => `${id} (${status})`));

function upstream(asked: Case, failed: Cited | undefined): Answer {
  const parents = parentsThat(asked, "failed");
  const [first] = parents;
  return {
    reason: "UPSTREAM_FAILED",
    summary: `${parentsText(parents)} did not complete, and its policy on_parent_failure is propagate; it never ran.`,
    evidence: parents.map(({ event }) => event),
    next: `Ask why ${first?.id ?? "its parent"} failed; or choose another on_parent_failure.`,
    since: failed,
  };
}

interface Parent {
  readonly id: string;
  readonly status: string;
  readonly handle: string | undefined;
  readonly edge: GraphEdge;
  readonly event: Cited | undefined;
}

/** The parents whose edge to this node had an effect, with the event that settled each. */
function parentsThat(asked: Case, effect: "failed" | "untaken"): Parent[] {
  const { state, node } = asked;
  return node.incoming.flatMap((edge) => {
    const parent = nodeStateAt(state, edge.source);
    if (edgeEffect(parent, edge) !== effect) return [];
    const id = edge.definition.source;
    const event = ofNode(asked, edge.source, ...SETTLING_TYPES);
    return [{ id, status: parent.status, handle: parent.handle, edge, event }];
  });
}

function wayText({ id, status, handle, edge }: Parent): string {
  if (status !== "completed") return `${id} was ${status}`;
  const wanted = edge.handle === null ? "not by error" : `not by ${edge.handle}`;
  return `${id} left by ${handle ?? "no handle"}, ${wanted}`;
}
