// Finds the workflow of a start. A start names it, or an assistant, or a thread that has an assistant. The fields that the start leaves out come
// from the assistant. The run copies them, so a later edit of the assistant changes no run.
//
// Race: a user deletes the assistant between this read and the commit. The commit fails, and the start is refused (`accept.ts`).

import { invalidField } from "@pawl/core/fault/engine-error";
import type { AssistantLink } from "@pawl/core/log/assistant";
import type { AskedThread } from "@pawl/core/log/start";
import { lowerLimits } from "@pawl/core/policy/budget";
import { type Taint, UNTRUSTED_INPUT } from "@pawl/core/policy/taint";
import type { AssistantRecord } from "@pawl/platform/store/assistants/assistants";
import { assistantNotFound } from "@pawl/platform/wire/assistant";
import type { StartRequest } from "@pawl/platform/wire/requests";
import { threadNotFound } from "@pawl/platform/wire/thread";
import type { AdmitParts } from "./parts.ts";

/** A start with its workflow, and everything that its assistant adds. */
export interface ResolvedStart extends Omit<StartRequest, "assistantId" | "thread"> {
  readonly assistant?: AssistantLink | undefined;
  readonly thread?: AskedThread | undefined;
  /** The labels that the input has, whatever the definition says. */
  readonly taint?: Taint | undefined;
}

/** @throws ASSISTANT_NOT_FOUND, THREAD_NOT_FOUND, INPUT_INVALID */
export async function resolveStart(
  parts: Pick<AdmitParts, "assistants" | "threads">,
  tenantId: string,
  { assistantId, ...given }: StartRequest,
): Promise<ResolvedStart> {
  const request = given.hasUntrustedInput === true ? { ...given, taint: UNTRUSTED_INPUT } : given;
  const named = assistantId ?? (await assistantOfThread(parts, tenantId, request));
  if (named === undefined) return { ...request, thread: threadOf(request, undefined) };
  const found = await parts.assistants.find({ tenantId, assistantId: named });
  if (found === undefined) throw assistantNotFound(named);
  const { workflowId, workflowVersion, version, config, defaults } = found;
  const { goal, constraints, budget } = defaults;
  const own = { ...(goal && { goal }), ...(constraints && { constraints }) };
  return {
    ...request,
    workflowId,
    version: workflowVersion,
    asked: { ...own, ...request.asked },
    budget: budget === undefined ? request.budget : lowerLimits(budget, request.budget),
    assistant: { assistantId: named, version, config },
    thread: threadOf(request, found),
  };
}

/** The assistant of the thread of a start that names no workflow. */
async function assistantOfThread(
  { threads }: Pick<AdmitParts, "threads">,
  tenantId: string,
  { workflowId, thread }: StartRequest,
): Promise<string | undefined> {
  if (workflowId !== "" || thread === undefined) return undefined;
  const { threadId, isCreated } = thread;
  const found = await threads.find({ tenantId, threadId });
  if (found === undefined && !isCreated) throw threadNotFound(threadId);
  if (found?.assistantId != null) return found.assistantId;
  const why = `is missing: thread ${threadId} has no assistant`;
  throw invalidField("workflow_id", "REQUIRED", why);
}

function threadOf(
  { thread }: Pick<StartRequest, "thread">,
  assistant: AssistantRecord | undefined,
): AskedThread | undefined {
  if (thread === undefined) return undefined;
  const { strategy, yields, ...named } = thread;
  const { defaults = {} } = assistant ?? {};
  return {
    ...named,
    strategy: strategy ?? defaults.strategy ?? "reject",
    ...((yields ?? defaults.yields) === true ? { yields: true } : {}),
  };
}
