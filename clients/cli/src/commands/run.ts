// pawl run: its verbs, and the verbs that read or change a run by one call. The verbs that follow a run are in run-start.ts.

import { type Json, plainEffect, plainRun, runStatusName, RUN_STATUS_NAMES } from "@pawl/client";
import { EffectState } from "@pawl/proto/pawl/v1/effect_pb";
import type { Run } from "@pawl/proto/pawl/v1/run_pb";
import { type Command, Option } from "commander";
import {
  atLeast,
  collect,
  fileFlag,
  type PageFlags,
  pageFlags,
  requestIdFlag,
  type Verb,
  wholeNumber,
} from "../grammar.ts";
import { budgetFlags, budgetText, usedText } from "../budget-flags.ts";
import { timeFlags } from "../time-flags.ts";
import { classText, isoText } from "../render/words.ts";
import { nodeRows, spanText, valueText } from "../render/node-rows.ts";
import { undoneText, undoRows } from "../render/undo-rows.ts";
import { statusSpan } from "../render/spans.ts";
import { factLines, tableLines } from "../render/table.ts";
import {
  canvasOf,
  print,
  printJson,
  printLines,
  printList,
  runUrl,
  type Session,
  UsageError,
} from "../session.ts";
import { runCancel } from "./run-cancel.ts";
import { runExplain } from "./run-explain.ts";
import { repairVerbs } from "./run-repair.ts";
import { quarantineText, runList, workflowText } from "./run-list.ts";
import { runMetadata } from "./run-metadata.ts";
import { runSignal } from "./run-signal.ts";
import { runDiff, runState } from "./run-state.ts";
import { watchFlags } from "./run-stream.ts";
import { taintVerb } from "./run-taint.ts";
import { runValue } from "./run-value.ts";
import { runStart, runTest, runWatch, sampleCommand, startFlags } from "./run-start.ts";

const METADATA_CHANGES = "Merge a JSON object into the metadata of a run; null deletes a key";
const STARTS = "Start a run of a saved workflow, of an assistant, or of that of a thread";
const THREAD_RELEASE = new Option(
  "--thread-release <when>",
  "whether it gives the thread up while it waits for people; default never",
).choices(["never", "when_wanted"]);
const MULTITASK = new Option(
  "--multitask <strategy>",
  "what happens to runs of the thread that have not ended; default reject",
).choices(["reject", "enqueue", "interrupt", "rollback"]);

export function runVerbs(run: Command, verb: Verb): void {
  startFlags(inputFlags(verb(run, "start [workflow]", STARTS, runStart)))
    .option("--thread <id>", "the thread that the run belongs to")
    .option("--create-thread", "create the thread if there is none")
    .option("--assistant <id>", "the assistant in place of a workflow")
    .addOption(MULTITASK)
    .addOption(THREAD_RELEASE);
  const tests = "Run a definition without saving it";
  timeFlags(budgetFlags(fileFlag(inputFlags(verb(run, "test", tests, runTest)))));
  const watches = "Follow a run to its end; Ctrl-C stops watching, not the run";
  watchFlags(verb(run, "watch <run>", watches, runWatch));
  verb(run, "get <run>", "Show a run and its nodes", get);
  const states = "Show the workflow state of a run, now or after an event of its log";
  const at = "after this event id";
  verb(run, "state <run>", states, runState).option("--at <event>", at, atLeast(1));
  verb(run, "diff <run>", "Show what changed in the state of a run between two events", runDiff)
    .requiredOption("--from <event>", "the earlier event id", atLeast(1))
    .option("--to <event>", "the later event id; default the newest", atLeast(1));
  const explains = "Explain why a node waits, runs or ended as it did, and what to do";
  const inLoop = iterationFlag("which execution of the node, in a loop or map");
  verb(run, "explain <run> <node>", explains, runExplain).option(...inLoop);
  taintVerb(run, verb).option(...inLoop);
  verb(run, "value <run> <sha256>", "Print a value that is too large for the log", runValue);
  pageFlags(
    verb(run, "effects <run>", "List the effects of a run on the outside world", effects).option(
      "--node <id>",
      "only this node",
    ),
  );
  pageFlags(
    verb(run, "list", "List runs, newest first", runList)
      .option("--status <status...>", `only these: ${RUN_STATUS_NAMES.join(", ")}`)
      .option("--workflow <id>", "only this workflow")
      .option("--filter <filter>", 'such as: status = failed AND metadata.team = "billing"')
      .option("--saved <name>", "only runs that a kept filter finds")
      .option("--schedule <id>", "only runs that this schedule started")
      .option("--thread <id>", "only runs of this thread")
      .option("--assistant <id>", "only runs of this assistant"),
  );
  const cancels = "Cancel a run: abort running nodes, start no others, undo completed ones";
  verb(run, "cancel <run>", cancels, runCancel)
    .option("--reason <text>", "why; shown to people")
    .option("--compensate", "undo completed nodes first, whatever the workflow says")
    .option("--no-compensate", "undo nothing")
    .option("--interrupt", "keep its results, so that `run resume` continues it")
    .option("--rollback", "undo what can be undone; its thread forgets the run");
  verb(run, "metadata <run> <change>", METADATA_CHANGES, runMetadata);
  requestIdFlag(
    verb(run, "signal <run> <name>", "Send a run a signal that a node waits for", runSignal).option(
      "--payload <json>",
      "the payload: JSON, @FILE, or - for standard input",
    ),
  );
  repairVerbs(run, verb);
  const rechecks =
    "Verify the whole log of a quarantined run; release the run when the log is intact";
  verb(run, "recheck <run>", rechecks, recheck);
  verb(
    run,
    "delete <run>",
    "Stop and delete a test run or a temporary run, with its history",
    remove,
  );
  const decides = "Approve or reject a node that waits for a person";
  verb(run, "decide <run> <node> <decision>", decides, decide)
    .option(...iterationFlag("which execution of the node; default 0"))
    .option("--comment <text>", "comment on the decision");
}

const iterationFlag = (description: string) =>
  ["--iteration <number>", description, wholeNumber] as const;

const inputFlags = (command: Command): Command =>
  requestIdFlag(
    command
      .option("--input <json>", "the input: JSON, or @FILE")
      .option("--sample", "use the example input of the workflow")
      .option("--set <key=value>", "set one key of the input; may be repeated", collect)
      .option("--untrusted-input", "give the input the label of untrusted data")
      .option("--goal <text>", "what the run is for; default the definition's own")
      .option("--constraint <text>", "a rule that its nodes respect; may be repeated", collect)
      .option("--max-iterations <number>", "how often it may repeat; 1 to 10000", atLeast(1))
      .option("--max-retries <number>", "how often a node may be retried at most", atLeast(0))
      .option("--wait", "wait for the end; exit code 1 unless the run completes"),
  );

/** One run with its nodes. */
async function get(session: Session, runId: string): Promise<void> {
  const { run, definition } = await session.client.runs.get(runId, { signal: session.interrupted });
  const url = runUrl(session, run.runId);
  if (session.format === "json") {
    // `run state` shows the state.
    const { state: _state, ...plain } = plainRun(run);
    return printJson(session, { ...plain, url });
  }
  const facts: [string, string][] = [
    ["run", run.runId],
    ["workflow", workflowText(run)],
    ["schedule", scheduleText(run)],
    ["parent", run.parentRunId === "" ? "" : `${run.parentRunId} node ${run.parentNodeId}`],
    ["repairs", run.repairOf],
    ["repaired by", run.repairedBy.join(", ")],
    ["created", isoText(run.createTime)],
    ["starts at", isoText(run.startAt)],
    ["took", spanText(run.createTime, run.endTime, session.now())],
    ["events", String(run.lastEventId)],
    ["used", usedText(run)],
    ["budget", budgetText(run)],
    ["input", valueText(run.inputJson)],
    ["output", valueText(run.outputJson)],
    ["error", run.errorMessage],
    ["cause", classText(run)],
    ["undone", undoneText(session.self, run)],
    ["undoes", run.undoesRunId === "" ? "" : `${run.undoesRunId} node ${run.undoesNodeId}`],
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
    const rows = [...nodes, ...undoRows(run, session.now())];
    printLines(session, ["", ...tableLines(heads, rows, canvas)]);
  }
}

/** A page of the effects of a run on the outside world. */
async function effects(
  session: Session,
  runId: string,
  flags: PageFlags & { readonly node?: string },
): Promise<void> {
  const { client, interrupted: signal, self } = session;
  const { node: nodeId, limit: pageSize, pageToken } = flags;
  const page = await client.runs.effects(runId, { nodeId, pageSize, pageToken, signal });
  const { effects: items, nextPageToken } = page;
  printList(session, {
    items,
    json: { runId, effects: items.map(plainEffect), nextPageToken },
    none: "No effects.",
    heads: ["NODE", "EFFECT", "STATE", "CLASS", "ATTEMPT", "BEGUN", "KEY"],
    rowOf: (effect) => [
      effect.iteration === 0 ? effect.nodeId : `${effect.nodeId}[${effect.iteration}]`,
      effect.name,
      effect.state === EffectState.COMMITTED ? "committed" : "begun, result unknown",
      effect.effectClass,
      String(effect.attempt),
      isoText(effect.beginTime),
      effect.key,
    ],
    next: [`${self} run effects ${runId}`, nextPageToken],
  });
}

async function remove(session: Session, runId: string): Promise<void> {
  await session.client.runs.delete(runId, { signal: session.interrupted });
  print(session, { runId, deleted: true }, () => [`${runId} deleted`]);
}

/** Checks the whole log again, and lifts the quarantine when the log is intact. */
async function recheck(session: Session, runId: string): Promise<void> {
  const run = await session.client.runs.recheck(runId, { signal: session.interrupted });
  print(session, plainRun(run), () => [`${run.runId} is whole and ${runStatusName(run.status)}`]);
}

/** Approves or rejects a node that waits for a person. */
async function decide(
  session: Session,
  runId: string,
  nodeId: string,
  decision: string,
  { iteration, comment }: { readonly iteration?: number; readonly comment?: string },
): Promise<void> {
  if (decision !== "approve" && decision !== "reject")
    throw new UsageError(`The decision is approve or reject, not ${decision}.`);
  const options = { iteration, comment, signal: session.interrupted };
  const run = await session.client.runs.decide(runId, nodeId, decision, options);
  print(session, plainRun(run), () => [
    `${nodeId} ${decision}; the run is ${runStatusName(run.status)}`,
  ]);
}

const nextCommand = (self: string, run: Run, definition: Json | undefined): string =>
  run.quarantine === undefined
    ? sampleCommand(self, run, definition)
    : `${self} run recheck ${run.runId}`;

const scheduleText = ({ scheduleId, scheduleTime }: Run): string =>
  scheduleTime === undefined ? scheduleId : `${scheduleId} at ${isoText(scheduleTime)}`;
