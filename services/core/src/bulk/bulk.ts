// The rules of a bulk: to which runs an action applies, and what the next step is. Pure.

import type { RunStatus, StopMode } from "../log/event.ts";
import { isFinal } from "../log/event.ts";
import { unreachable } from "../fault/invariant.ts";

export type BulkAction = "cancel" | "pause" | "resume" | "retry" | "repair" | "redrive" | "delete";
export type BulkState = "canary" | "waiting" | "running" | "completed" | "stopped" | "aborted";
export type BulkOutcome = "done" | "failed" | "skipped";

/** How a bulk acts, as the caller asked for it. */
export interface BulkOptions {
  readonly canaryRuns: number;
  readonly canaryPercent: number;
  readonly autoContinue: boolean;
  readonly perSecond: number;
  /** Null for no limit. */
  readonly abortFailed: number | null;
  /** 0 for no limit. */
  readonly abortPercent: number;
  /** Null for what the definitions say. */
  readonly compensate: boolean | null;
  readonly latest: boolean;
  readonly fromNodes: readonly string[];
  readonly keepEffects: boolean;
  readonly by: string;
  readonly reason: string;
}

/** The facts about a run that decide whether an action applies. */
export interface BulkFacts {
  readonly status: RunStatus;
  readonly stop: StopMode | null;
  /** Whether it has open dead letters. */
  readonly hasLetters: boolean;
  /** Whether another run repairs it already. */
  readonly isRepaired: boolean;
  readonly hasParent: boolean;
  readonly hasLiveChild: boolean;
}

/** Why an action does not apply to a run. Undefined if it does. */
export function whySkipped(action: BulkAction, run: BulkFacts): string | undefined {
  const isLive = !isFinal(run.status);
  switch (action) {
    case "cancel":
      return isLive ? undefined : "ended";
    case "pause":
      if (!isLive) return "ended";
      return run.status === "paused" ? "paused_already" : undefined;
    case "resume":
      // An interrupted run is continued by a new run, as ResumeRun does.
      if (run.stop === "interrupt") return run.isRepaired ? "repaired_already" : undefined;
      if (!isLive) return "ended";
      return run.status === "paused" ? undefined : "not_paused";
    case "retry":
      if (run.status === "completed") return "completed";
      return whyNotRepaired(isLive, run);
    case "repair":
      return whyNotRepaired(isLive, run);
    case "redrive":
      if (!run.hasLetters) return "no_dead_letter";
      return isLive ? "live" : undefined;
    case "delete":
      if (isLive) return "live";
      if (run.hasParent) return "child_of_a_run";
      return run.hasLiveChild ? "child_live" : undefined;
    default:
      return unreachable(action, "action");
  }
}

/** The newest run of a line of repairs is the one to repair. */
function whyNotRepaired(isLive: boolean, { isRepaired }: BulkFacts): string | undefined {
  if (isLive) return "live";
  return isRepaired ? "repaired_already" : undefined;
}

/** How many of the runs are canary runs. */
export const canaryOf = (
  { canaryRuns, canaryPercent }: Pick<BulkOptions, "canaryRuns" | "canaryPercent">,
  matched: number,
): number => Math.min(matched, canaryRuns || Math.ceil((matched * canaryPercent) / 100));

/** The progress of a bulk. */
export interface BulkProgress {
  readonly state: BulkState;
  readonly options: BulkOptions;
  readonly matched: number;
  readonly canary: number;
  readonly done: number;
  readonly failed: number;
  readonly skipped: number;
}

/** What a scheduler does next for a bulk. */
type BulkStep =
  /** Act on up to `limit` runs whose position is at most `upTo`. */
  | { readonly kind: "act"; readonly limit: number; readonly upTo: number }
  /** Finish only runs that a step has begun. Then the bulk ends. */
  | { readonly kind: "finish"; readonly limit: number; readonly upTo: number }
  | { readonly kind: "abort"; readonly reason: string }
  /** All canary runs are handled. */
  | { readonly kind: "judge_canary" }
  | { readonly kind: "complete" }
  | { readonly kind: "rest" };

/** Runs that one step acts on: the scheduler commits them in a few ticks. */
const STEP_MAX = 50;
/** From this many handled runs on a share of failures is judged. */
const SHARE_FROM = 20;

export function nextStep(bulk: BulkProgress): BulkStep {
  const { state, matched, canary } = bulk;
  if (state === "waiting" || state === "completed") return { kind: "rest" };
  if (state === "stopped" || state === "aborted")
    return { kind: "finish", limit: STEP_MAX, upTo: matched };
  const reason = whyAborted(bulk);
  if (reason !== undefined) return { kind: "abort", reason };
  const handled = handledOf(bulk);
  const upTo = state === "canary" ? canary : matched;
  if (handled >= upTo) return { kind: state === "canary" ? "judge_canary" : "complete" };
  return { kind: "act", limit: stepLimit(bulk), upTo };
}

export const handledOf = ({ done, failed, skipped }: BulkProgress): number =>
  done + failed + skipped;

/** A step is about a second of the pace, and never so large that more runs fail than one above the limit. */
function stepLimit({ options, failed }: BulkProgress): number {
  const { perSecond, abortFailed } = options;
  const room = abortFailed === null ? STEP_MAX : abortFailed - failed + 1;
  return Math.max(1, Math.min(STEP_MAX, perSecond, room));
}

function whyAborted(bulk: BulkProgress): string | undefined {
  const { options, failed, done, state, canary } = bulk;
  const { abortFailed, abortPercent } = options;
  if (abortFailed !== null && failed > abortFailed)
    return `${failed} runs failed; the limit is ${abortFailed}`;
  const acted = done + failed;
  const isJudged = acted >= SHARE_FROM || (state === "canary" && handledOf(bulk) >= canary);
  if (abortPercent > 0 && isJudged && failed * 100 > acted * abortPercent)
    return `${failed} of ${acted} runs failed; the limit is ${abortPercent} %`;
  return undefined;
}

/** The new runs that the canary started. */
export interface CanaryRuns {
  readonly live: number;
  /** Ended in another way than completed. */
  readonly lost: number;
}

type CanaryVerdict =
  | { readonly kind: "continue" }
  | { readonly kind: "wait"; readonly reason: string }
  /** New runs of the canary have not ended. */
  | { readonly kind: "later" };

/** Whether a bulk continues behind its canary. */
export function judgeCanary(
  { options, failed, canary, matched }: BulkProgress,
  { live, lost }: CanaryRuns,
): CanaryVerdict {
  if (failed > 0) return { kind: "wait", reason: `${failed} canary runs failed` };
  if (!options.autoContinue)
    return { kind: "wait", reason: `${canary} of ${matched} runs are handled; a person decides` };
  if (lost > 0)
    return { kind: "wait", reason: `${lost} new runs of the canary ended without completing` };
  return live > 0 ? { kind: "later" } : { kind: "continue" };
}
