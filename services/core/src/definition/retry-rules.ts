// Refuses a retry policy that can never apply, so that no author relies on attempts that are never made.

import { isRecord } from "../data/path.ts";
import { RETRY_CAUSES, type RetryCause } from "../fault/cause.ts";
import { isBuiltIn, isGlueType, type BuiltInType, type GlueType } from "./node-types.ts";
import type { Report } from "./violation.ts";

/** The retryable failures of the built-in types. All their other failures are final, and so is every failure of glue and approvals. */
const PASSING: Readonly<
  Record<Exclude<BuiltInType, GlueType | "approval">, readonly RetryCause[]>
> = {
  javascript: ["timeout", "provider_error"],
  http: ["timeout", "provider_error", "rate_limit"],
  llm: ["timeout", "provider_error", "rate_limit"],
  agent: ["timeout", "provider_error", "rate_limit"],
  supervisor: ["timeout", "provider_error", "rate_limit"],
  dataQuery: ["timeout", "provider_error"],
  subworkflow: ["provider_error"],
  text_stream: ["timeout", "provider_error"],
};

/** A policy and its node. */
interface RetryPlace {
  readonly type: string;
  readonly retry: unknown;
  /** A violation of the output contract may be retried. */
  readonly hasOutput: boolean;
  /** Unanswered moderation may be retried. */
  readonly isModerated: boolean;
  readonly path: string;
  readonly nodeId: string;
}

/** Reports a policy that never makes another attempt. */
export function checkRetry(place: RetryPlace, report: Report): void {
  const { retry, type, path, nodeId } = place;
  const policy = retry === "standard" ? { attempts: 3 } : retry;
  if (!isRecord(policy)) return;
  const { attempts, retry_on: named = RETRY_CAUSES } = policy;
  const never = (message: string): void => report(path, "RETRY_NEVER", message, nodeId);
  // A policy with one attempt, named explicitly, is accepted.
  if (attempts === undefined && Object.keys(policy).length > 0)
    return never(
      "one attempt is the default, so this policy does nothing; set attempts, or remove retry",
    );
  if (typeof attempts !== "number" || attempts <= 1 || !isCauses(named)) return;
  if (named.length === 0)
    return never("retry_on is empty, so nothing is retried; name causes, or remove it");
  const passing = passingOf(place);
  if (named.some((cause) => passing.has(cause))) return;
  if (passing.size > 0)
    return never(
      `a ${type} is retried only after ${[...passing].join(", ")}; name one of them in retry_on`,
    );
  const where =
    type === "map" || type === "loop"
      ? "; the body has a policy of its own, config.body.retry"
      : "";
  never(`another attempt of a ${type} would fail in the same way; remove retry${where}`);
}

const isCauses = (value: unknown): value is readonly unknown[] =>
  Array.isArray(value) && value.every((cause) => RETRY_CAUSES.some((known) => known === cause));

function passingOf({ type, hasOutput, isModerated }: RetryPlace): ReadonlySet<unknown> {
  if (!isBuiltIn(type)) return new Set(RETRY_CAUSES);
  return new Set([
    ...(isGlueType(type) || type === "approval" ? [] : PASSING[type]),
    ...(hasOutput ? ["contract_violated"] : []),
    ...(isModerated ? ["provider_error"] : []),
  ]);
}
