// pawl run list: a page of runs.

import {
  failureClassName,
  plainRun,
  RUN_STATUS_NAMES,
  runFilterOf,
  runKindName,
  runStatusName,
} from "@pawl/client";
import type { Run } from "@pawl/proto/pawl/v1/run_pb";
import type { PageFlags } from "../grammar.ts";
import { spanText } from "../render/node-rows.ts";
import { failureText } from "../render/words.ts";
import { shortId, statusSpan } from "../render/spans.ts";
import { printList, type Session, UsageError } from "../session.ts";

interface ListFlags extends PageFlags {
  readonly status?: readonly string[];
  readonly workflow?: string;
  readonly schedule?: string;
  readonly filter?: string;
  readonly saved?: string;
  readonly thread?: string;
  readonly assistant?: string;
}

export async function runList(session: Session, flags: ListFlags): Promise<void> {
  const named = flags.status ?? [];
  const asked = runFilterOf(named);
  if (asked === undefined)
    throw new UsageError(`--status ${named.join(" ")}: use one of ${RUN_STATUS_NAMES.join(", ")}`);
  const { workflow: workflowId, schedule: scheduleId, limit: pageSize, pageToken } = flags;
  const { filter: written, saved: savedFilter } = flags;
  const { thread: threadId, assistant: assistantId } = flags;
  const { client, interrupted: signal, self } = session;
  const links = { workflowId, scheduleId, threadId, assistantId };
  const filter = { ...asked, ...links, filter: written, savedFilter };
  const page = await client.runs.list({ ...filter, pageSize, pageToken, signal });
  const { runs: items, nextPageToken } = page;
  const nowMs = session.now();
  printList(session, {
    items,
    json: { runs: items.map(plainRun), nextPageToken },
    none: `No runs. Start one with \`${self} run start WORKFLOW\`.`,
    heads: ["RUN", "WORKFLOW", "STATUS", "AGO", "TOOK", "ERROR"],
    rowOf: (run) => [
      session.terminal.isTty ? shortId(run.runId) : run.runId,
      workflowText(run),
      statusSpan(runStatusName(run.status)),
      spanText(run.createTime, undefined, nowMs),
      spanText(run.createTime, run.endTime, nowMs),
      troubleOf(run),
    ],
    next: [`${self} run list`, nextPageToken],
  });
}

/** Why a run is in quarantine. Empty if it is not. */
export const quarantineText = ({ quarantine }: Run): string =>
  quarantine === undefined ? "" : `${quarantine.reason}: ${quarantine.detail}`;

function troubleOf(run: Run): string {
  if (run.quarantine !== undefined) return `in quarantine: ${quarantineText(run)}`;
  // The status already says it of these.
  const isPlain = failureClassName(run.failureClass) === runStatusName(run.status);
  const text = isPlain ? run.errorMessage : failureText(run);
  return text === "" && run.hasFailures ? "some nodes failed" : text;
}

/** The workflow of a run, or its kind. */
export const workflowText = (run: Run): string =>
  run.workflowId === ""
    ? `(${runKindName(run.kind)})`
    : `${run.workflowId} v${run.workflowVersion}`;
