// The body of a request that starts a run, as a hash. A repeat of a request id with another body is refused.

import { canonicalJson } from "@pawl/core/definition/canonical";
import type { AskedOfRun } from "@pawl/core/log/start";
import type { StartRequest } from "@pawl/platform/wire/requests";
import { sha256 } from "./digest.ts";

/** The place of the deadline in the body of a request whose caller named none: that of the definition counts. */
const OWN_DEADLINE = "";

/**
 * The words of a request, in the order of earlier versions. The assistant itself is not among them: a repeat of a request gets its run, also
 * if a user edited the assistant since.
 */
export function bodyOf(request: StartRequest): readonly string[] {
  const { workflowId, version, input, priority, deadlineMs, assistantId } = request;
  // The definition of an assistant may change, and with it the deadline.
  const deadline = deadlineMs ?? (workflowId === "" ? "own" : OWN_DEADLINE);
  const body = [workflowId, version, input, priority, deadline].map(String);
  body.push(...askedTexts(request.asked), ...budgetText(request));
  if (request.hasUntrustedInput === true) body.push("untrusted");
  body.push(...webhookText(request), ...threadTexts(request), ...timeTexts(request));
  body.push(...temporaryText(request));
  if (request.metadata !== undefined) body.push("metadata", request.metadata);
  if (assistantId !== undefined) body.push("assistant", assistantId);
  return body;
}

/** `deadlineMs` is that of the run. */
export const hashOf = (body: readonly string[], deadlineMs: number): string =>
  sha256("start", ...body.with(4, body[4] === OWN_DEADLINE ? String(deadlineMs) : (body[4] ?? "")));

/** The thread as a part of the request. */
const threadTexts = ({ thread }: StartRequest): string[] =>
  thread === undefined
    ? []
    : [
        ...[thread.threadId, String(thread.isCreated), thread.strategy ?? "reject"],
        ...(thread.yields === undefined ? [] : [`yields ${thread.yields}`]),
      ];

/** The caller's own wishes as texts for a hash. A request of an earlier version keeps its hash. */
export function askedTexts({ maxIterations, ...rest }: AskedOfRun = {}): readonly string[] {
  const bound = maxIterations === undefined ? [] : [String(maxIterations)];
  return Object.keys(rest).length === 0 ? bound : [...bound, JSON.stringify(rest)];
}

/** The caller's budget as a part of the request. A request without one has the hash of earlier versions. */
export const budgetText = ({ budget }: Pick<StartRequest, "budget">): string[] =>
  budget === undefined ? [] : [canonicalJson(budget)];

/** The caller's webhook in the same way. */
const webhookText = ({ webhook }: StartRequest): string[] =>
  webhook === undefined ? [] : [canonicalJson(webhook)];

/** When the run starts, as the caller wrote it. A repeat of a request has the same text. */
export const timeTexts = ({ time }: Pick<StartRequest, "time">): string[] =>
  time === undefined ? [] : [time.kind, String(time.kind === "after" ? time.ms : time.at)];

export const temporaryText = ({ isTemporary }: Pick<StartRequest, "isTemporary">): string[] =>
  isTemporary === true ? ["temporary"] : [];

/** The key of an input of a workflow or an assistant. No id contains a line break, so two inputs never have the same key. */
export const inputKey = (of: readonly string[], input: string, ttlMs: number) => ({
  key: sha256([...of, canonicalJson(JSON.parse(input))].join("\n")),
  ttlMs,
});
