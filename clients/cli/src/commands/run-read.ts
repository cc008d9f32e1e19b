// pawl run get, pawl run list, pawl run cancel, pawl run recheck, pawl run delete.

import { timestampDate, timestampMs } from "@bufbuild/protobuf/wkt";
import {
  type Json,
  plainRun,
  RUN_STATUS_NAMES,
  runKindName,
  runStatusName,
  runStatusOf,
} from "@pawl/client";
import type { Run } from "@pawl/proto/pawl/v1/run_pb";
import { EXIT, type ExitCode } from "../exit-code.ts";
import { factLines } from "../render/fact-lines.ts";
import { nodeRows, spanText, valueText } from "../render/node-rows.ts";
import { shortId } from "../render/short-id.ts";
import type { Span } from "../render/spans.ts";
import { statusSpan } from "../render/symbols.ts";
import { tableLines } from "../render/table.ts";
import { type Session, canvasOf, printJson, printLines, runUrl } from "../session.ts";
import { UsageError } from "../usage-error.ts";
import { sampleCommand } from "./sample-hint.ts";

/** One run with its nodes. */
export async function runGet(session: Session, runId: string): Promise<ExitCode> {
  const { run, definition } = await session.client.runs.get(runId, { signal: session.interrupted });
  const url = runUrl(session, run.runId);
  if (session.format === "json") {
    printJson(session, { ...plainRun(run), url });
    return EXIT.ok;
  }
  const facts: [string, string][] = [
    ["run", run.runId],
    ["workflow", workflowText(run)],
    ["schedule", scheduleText(run)],
    ["parent", run.parentRunId === "" ? "" : `${run.parentRunId} node ${run.parentNodeId}`],
    [
      "created",
      run.createTime === undefined ? "" : new Date(timestampMs(run.createTime)).toISOString(),
    ],
    ["took", spanText(run.createTime, run.endTime, session.now())],
    ["events", String(run.lastEventId)],
    ["input", valueText(run.inputJson)],
    ["output", valueText(run.outputJson)],
    ["error", run.errorMessage],
    ["waiting", run.waitingReason],
    ["quarantine", quarantineText(run)],
    ["next", nextCommand(session.self, run, definition)],
    ["trace", run.traceId],
    ["url", url],
  ];
  const canvas = canvasOf(session);
  printLines(session, [
    ...factLines("status", statusSpan(runStatusName(run.status)), canvas),
    ...facts.flatMap(([name, value]) => factLines(name, { text: value }, canvas)),
  ]);
  if (run.nodes.length > 0) {
    const heads = ["NODE", "STATUS", "ATTEMPT", "TOOK", "RESULT"];
    const { self, terminal } = session;
    const options = { definition, nowMs: session.now(), self, isTty: terminal.isTty };
    const nodes = nodeRows(run, options);
    printLines(session, ["", ...tableLines(heads, nodes, canvas)]);
  }
  return EXIT.ok;
}

export interface ListFlags {
  readonly status?: readonly string[] | undefined;
  readonly workflow?: string | undefined;
  readonly schedule?: string | undefined;
  readonly limit?: number | undefined;
  readonly pageToken?: string | undefined;
}

/** A page of runs, newest first. */
export async function runList(session: Session, flags: ListFlags): Promise<ExitCode> {
  const statuses = (flags.status ?? []).map((name) => {
    const status = runStatusOf(name);
    if (status === undefined)
      throw new UsageError(`--status ${name}: use one of ${RUN_STATUS_NAMES.join(", ")}`);
    return status;
  });
  const { runs, nextPageToken } = await session.client.runs.list({
    statuses,
    workflowId: flags.workflow,
    scheduleId: flags.schedule,
    pageSize: flags.limit,
    pageToken: flags.pageToken,
    signal: session.interrupted,
  });
  if (session.format === "json") {
    printJson(session, { runs: runs.map(plainRun), nextPageToken });
    return EXIT.ok;
  }
  if (runs.length === 0) {
    printLines(session, [`No runs. Start one with \`${session.self} run start WORKFLOW\`.`]);
    return EXIT.ok;
  }
  const nowMs = session.now();
  const rows = runs.map((run): Span[] => [
    { text: session.terminal.isTty ? shortId(run.runId) : run.runId },
    { text: workflowText(run) },
    statusSpan(runStatusName(run.status)),
    { text: spanText(run.createTime, undefined, nowMs) },
    { text: spanText(run.createTime, run.endTime, nowMs) },
    { text: troubleOf(run) },
  ]);
  const heads = ["RUN", "WORKFLOW", "STATUS", "AGO", "TOOK", "ERROR"];
  printLines(session, tableLines(heads, rows, canvasOf(session)));
  if (nextPageToken !== "") {
    printLines(session, [`More: ${session.self} run list --page-token ${nextPageToken}`]);
  }
  return EXIT.ok;
}

/** Aborts a run. */
export async function runCancel(
  session: Session,
  runId: string,
  flags: { readonly reason?: string },
): Promise<ExitCode> {
  const run = await session.client.runs.cancel(runId, {
    reason: flags.reason ?? "cancelled from the command line",
    signal: session.interrupted,
  });
  if (session.format === "json") printJson(session, plainRun(run));
  else printLines(session, [`${run.runId} ${runStatusName(run.status)}`]);
  return EXIT.ok;
}

/** Removes a test run that has ended. */
export async function runDelete(session: Session, runId: string): Promise<ExitCode> {
  await session.client.runs.delete(runId, { signal: session.interrupted });
  if (session.format === "json") printJson(session, { runId, deleted: true });
  else printLines(session, [`${runId} deleted`]);
  return EXIT.ok;
}

/** Reads the whole log again; lifts a quarantine when it is whole. */
export async function runRecheck(session: Session, runId: string): Promise<ExitCode> {
  const run = await session.client.runs.recheck(runId, { signal: session.interrupted });
  if (session.format === "json") printJson(session, plainRun(run));
  else printLines(session, [`${run.runId} is whole and ${runStatusName(run.status)}`]);
  return EXIT.ok;
}

const nextCommand = (self: string, run: Run, definition: Json | undefined): string =>
  run.quarantine === undefined
    ? sampleCommand(self, run, definition)
    : `${self} run recheck ${run.runId}`;

const quarantineText = ({ quarantine }: Run): string =>
  quarantine === undefined ? "" : `${quarantine.reason}: ${quarantine.detail}`;

function troubleOf(run: Run): string {
  if (run.quarantine !== undefined) return `in quarantine: ${quarantineText(run)}`;
  return run.errorMessage === "" && run.hasFailures ? "some nodes failed" : run.errorMessage;
}

const scheduleText = ({ scheduleId, scheduleTime }: Run): string =>
  scheduleTime === undefined
    ? scheduleId
    : `${scheduleId} at ${timestampDate(scheduleTime).toISOString()}`;

const workflowText = (run: Run): string =>
  run.workflowId === ""
    ? `(${runKindName(run.kind)})`
    : `${run.workflowId} v${run.workflowVersion}`;
