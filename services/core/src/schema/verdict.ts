// The answer of a comparison of two schemas, and how answers about parts are joined.

import type { PathStep } from "../data/path.ts";

/** `never`: no value that the source promises for this place fits. `sometimes`: some values do. */
type Fit = "never" | "sometimes";

/** One place where values of the source do not fit. */
export interface Misfit {
  /** The path from the top of the value. */
  readonly path: readonly PathStep[];
  /** The end of a sentence that begins with the name of the place. */
  readonly reason: string;
  readonly fit: Fit;
}

export type Verdict =
  | { readonly verdict: "yes" | "unknown" }
  /** At least one misfit. Disjoint means that no value is a value of both. A list of texts and a list of numbers share the empty list. */
  | { readonly verdict: "no"; readonly misfits: readonly Misfit[]; readonly disjoint: boolean };

export const YES: Verdict = { verdict: "yes" };
export const UNSURE: Verdict = { verdict: "unknown" };

/** The most misfits of one answer. A reader fixes the first ones first. */
const MISFITS_MAX = 20;

export const misfit = (
  path: readonly PathStep[],
  reason: string,
  fit: Fit,
  disjoint = fit === "never",
): Verdict => ({ verdict: "no", misfits: [{ path, reason, fit }], disjoint });

const misfitsOf = (verdict: Verdict): readonly Misfit[] =>
  verdict.verdict === "no" ? verdict.misfits : [];

const isDisjoint = (verdict: Verdict): boolean => verdict.verdict === "no" && verdict.disjoint;

const isHopeless = (verdict: Verdict): boolean =>
  misfitsOf(verdict).some(({ fit }) => fit === "never");

/** The compared part of the value may be absent. */
export const ifPresent = (verdict: Verdict): Verdict =>
  verdict.verdict === "no" ? { ...verdict, disjoint: false } : verdict;

/** All verdicts must be yes, for the same values. */
export function all(verdicts: readonly Verdict[]): Verdict {
  const misfits = verdicts.flatMap(misfitsOf).slice(0, MISFITS_MAX);
  if (misfits.length > 0) return { verdict: "no", misfits, disjoint: verdicts.some(isDisjoint) };
  return verdicts.some(({ verdict }) => verdict === "unknown") ? UNSURE : YES;
}

/** All verdicts must be yes, each for its own alternative of the source. If only some are yes, values fit sometimes. */
export function allAlternatives(verdicts: readonly Verdict[]): Verdict {
  const joined = all(verdicts);
  if (joined.verdict !== "no" || verdicts.length === 1) return joined;
  const disjoint = verdicts.every(isDisjoint);
  if (verdicts.every(isHopeless)) return { ...joined, disjoint };
  const misfits = joined.misfits.map((each) => ({ ...each, fit: "sometimes" as const }));
  return { verdict: "no", misfits, disjoint };
}

/** One verdict must be yes. */
export function any(verdicts: readonly Verdict[], path: readonly PathStep[]): Verdict {
  if (verdicts.some(({ verdict }) => verdict === "yes")) return YES;
  if (verdicts.some(({ verdict }) => verdict === "unknown")) return UNSURE;
  const fit: Fit = verdicts.every(isHopeless) ? "never" : "sometimes";
  const disjoint = verdicts.every(isDisjoint);
  // The misfits of the alternative that fits best are deepest, and explain most.
  const [nearest = []] = verdicts.map(misfitsOf).toSorted((a, b) => depthOf(b) - depthOf(a));
  if (depthOf(nearest) > path.length)
    return { verdict: "no", misfits: nearest.map((each) => ({ ...each, fit })), disjoint };
  const reasons = [...new Set(verdicts.flatMap(misfitsOf).map(({ reason }) => reason))];
  return misfit(path, reasons.slice(0, 3).join(", and "), fit, disjoint);
}

const depthOf = (misfits: readonly Misfit[]): number =>
  Math.max(0, ...misfits.map(({ path }) => path.length));

/** Exactly one verdict must be yes. The others must be no for every value. */
export function exactlyOne(verdicts: readonly Verdict[], path: readonly PathStep[]): Verdict {
  const some = any(verdicts, path);
  if (some.verdict !== "yes") return some;
  return verdicts.filter((verdict) => !isDisjoint(verdict)).length === 1 ? YES : UNSURE;
}

/** The target requires more than was compared. */
export const atLeastUnknown = (verdict: Verdict): Verdict =>
  verdict.verdict === "yes" ? UNSURE : verdict;

/** The source has fewer values than were compared. The values that do not fit may not be among them. */
export const narrowed = (verdict: Verdict): Verdict =>
  verdict.verdict === "no" && !verdict.disjoint ? UNSURE : verdict;
