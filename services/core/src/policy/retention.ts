// How long finished runs are kept, by status and by workflow, as an operator writes it. It is pure.

import { isName } from "../name/ids.ts";

const ENDS = ["completed", "failed", "cancelled", "timeout"] as const;
/** A status in which runs end. */
export type EndStatus = (typeof ENDS)[number];

const UNITS: Readonly<Record<string, number>> = {
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};
const AGE = /^([1-9]\d{0,6})([smhd])$/;
/** How many workflows may have rules. Each step of a sweep sends all of them. */
const WORKFLOWS_MAX = 1_000;
const EVERY = "all";
const DELTAS = "deltas";

/** The rules for runs with one final status. Infinity means for ever. */
export interface StatusRetention {
  readonly status: EndStatus;
  readonly ageMs: number;
  /** The workflows with rules of their own. */
  readonly workflows: ReadonlyMap<string, number>;
}

export interface Retention {
  /** Only statuses for which some rule ends. */
  readonly statuses: readonly StatusRetention[];
  /** How long after the end of a run its stream deltas keep their text. Infinity means for ever. */
  readonly deltasMs: number;
}

/** What an operator may write, for messages. */
export const RETENTION_FORM =
  "entries with commas such as all=90d, failed=365d, checkout/all=7d, deltas=1d; a status is completed, failed, cancelled or timeout; an age is a number with s, m, h or d, or forever";

/**
 * Reads a policy such as `all=90d,failed=365d,checkout/completed=7d,deltas=1d`. The most particular entry counts: the status of a
 * workflow, then the workflow, then the status, then all. Without an entry, runs are kept for ever. Undefined if the text is faulty.
 */
export function readRetention(text: string): Retention | undefined {
  const rules = new Map<string, number>();
  for (const entry of text.split(",").map((each) => each.trim())) {
    if (entry === "") continue;
    const [subject = "", age = "", ...rest] = entry.split("=").map((each) => each.trim());
    const ageMs = readAge(age);
    if (rest.length > 0 || ageMs === undefined || !isSubject(subject) || rules.has(subject))
      return undefined;
    rules.set(subject, ageMs);
  }
  const workflows = new Set([...rules.keys()].flatMap((key) => workflowOf(key) ?? []));
  if (workflows.size > WORKFLOWS_MAX) return undefined;
  const statuses = ENDS.map((status) => ofStatus(rules, workflows, status));
  return {
    statuses: statuses.filter((each) => leastAgeMs(each) < Infinity),
    deltasMs: rules.get(DELTAS) ?? Infinity,
  };
}

/** The shortest age of any run with this status. */
export const leastAgeMs = ({ ageMs, workflows }: StatusRetention): number =>
  Math.min(ageMs, ...workflows.values());

function ofStatus(
  rules: ReadonlyMap<string, number>,
  workflows: ReadonlySet<string>,
  status: EndStatus,
): StatusRetention {
  const ageMs = rules.get(status) ?? rules.get(EVERY) ?? Infinity;
  const own = [...workflows].map((id): [string, number] => [
    id,
    rules.get(`${id}/${status}`) ?? rules.get(`${id}/${EVERY}`) ?? ageMs,
  ]);
  return { status, ageMs, workflows: new Map(own) };
}

function readAge(text: string): number | undefined {
  if (text === "forever") return Infinity;
  const [, count, unit = ""] = AGE.exec(text) ?? [];
  return count === undefined ? undefined : Number(count) * (UNITS[unit] ?? Number.NaN);
}

const isStatus = (text: string): boolean => text === EVERY || ENDS.some((end) => end === text);

function isSubject(text: string): boolean {
  const workflow = workflowOf(text);
  if (workflow === undefined) return text === DELTAS || isStatus(text);
  return isName(workflow) && isStatus(text.slice(workflow.length + 1));
}

/** The workflow before the slash. */
function workflowOf(subject: string): string | undefined {
  const at = subject.indexOf("/");
  return at === -1 ? undefined : subject.slice(0, at);
}
