// pawl run repair and pawl run retry: the plan as a table, then the run that follows it.

import {
  plainRepairPlan,
  repairActionName,
  type RepairNode,
  type RepairPlan,
  usdText,
} from "@pawl/client";
import type { Command } from "commander";
import { collect, pauseFlags, requestIdFlag, type Verb, wholeNumber } from "../grammar.ts";
import { readJsonFlag } from "../run-input.ts";
import {
  canvasOf,
  EXIT,
  type ExitCode,
  printJson,
  printLines,
  printNotes,
  readFileText,
  type Session,
  UsageError,
} from "../session.ts";
import { safeText } from "../render/spans.ts";
import { tableLines } from "../render/table.ts";
import { withDefinition } from "./definition-faults.ts";
import { afterStart } from "./run-start.ts";

export function repairVerbs(run: Command, verb: Verb): void {
  const repairs = "Plan the repair of a finished run; with --yes, start the run that repairs it";
  pauseFlags(commonFlags(verb(run, "repair <run>", repairs, repair)))
    .option(
      "--from <node>",
      "run this node again, and what was decided on it; may be repeated",
      collect,
    )
    .option("--from-event <event>", "reuse nothing that happened after this event", wholeNumber)
    .option("--definition <path>", "use this definition, JSON or YAML; - for standard input")
    .option("--input <json>", "use this input: JSON, or @FILE")
    .option(
      "--set-output <node=json>",
      "set the output of a node by hand; may be repeated",
      collect,
    )
    .option("--handle <node=handle>", "the handle of such an output; may be repeated", collect)
    .option("--keep <node>", "reuse this node although it changed; may be repeated", collect)
    .option("--plan <digest>", "start, if the plan still has this digest")
    .option("--yes", "start the run after printing the plan");
  const retries = "Run a finished run again from the nodes that did not complete";
  commonFlags(verb(run, "retry <run>", retries, retry));
}

const commonFlags = (command: Command): Command =>
  requestIdFlag(
    command
      .option("--latest", "use the newest saved version of the workflow")
      .option("--keep-effects", "do not repeat effects that the ledger has as done")
      .option("--dry-run", "only print the plan")
      .option("--wait", "wait for the end; exit code 1 unless the run completes"),
  );

interface RetryFlags {
  readonly latest?: boolean;
  readonly keepEffects?: boolean;
  readonly dryRun?: boolean;
  readonly wait?: boolean;
  readonly requestId?: string;
}

interface RepairFlags extends RetryFlags {
  readonly from?: readonly string[];
  readonly fromEvent?: number;
  readonly definition?: string;
  readonly input?: string;
  readonly setOutput?: readonly string[];
  readonly handle?: readonly string[];
  readonly keep?: readonly string[];
  readonly by?: string;
  readonly reason?: string;
  readonly plan?: string;
  readonly yes?: boolean;
}

async function repair(session: Session, runId: string, flags: RepairFlags): Promise<ExitCode> {
  const { latest, keepEffects, requestId, by, reason } = flags;
  const { definition: file } = flags;
  const text = file === undefined ? undefined : await readFileText(session, file);
  const options = {
    ...{ latest, keepEffects, by, reason, definition: text },
    fromNodes: flags.from,
    fromEventId: flags.fromEvent,
    inputJson:
      flags.input === undefined ? undefined : await readJsonFlag(session, "input", flags.input),
    outputs: await outputsOf(session, flags),
    keepNodes: flags.keep,
    signal: session.interrupted,
  };
  const act = async (): Promise<ExitCode> => {
    const { runs } = session.client;
    const plan = await runs.planRepair(runId, options);
    const isStarting = (flags.yes === true || flags.plan !== undefined) && flags.dryRun !== true;
    if (session.format !== "json") printPlan(session, plan);
    if (!isStarting) {
      if (session.format === "json") printJson(session, plainRepairPlan(plan));
      else if (flags.dryRun !== true)
        printNotes(session, [`Nothing was started. Add --yes, or --plan ${plan.digest}.`]);
      return EXIT.ok;
    }
    const planDigest = flags.plan ?? plan.digest;
    return await afterStart(
      session,
      await runs.repair(runId, { ...options, planDigest, requestId }),
      flags,
    );
  };
  if (file === undefined || text === undefined) return await act();
  return await withDefinition(session, { file, text }, act);
}

async function retry(session: Session, runId: string, flags: RetryFlags): Promise<ExitCode> {
  const { latest, keepEffects, requestId } = flags;
  const { client, interrupted: signal } = session;
  if (flags.dryRun === true) {
    const plan = await client.runs.planRepair(runId, { latest, keepEffects, signal });
    if (session.format === "json") printJson(session, plainRepairPlan(plan));
    else printPlan(session, plan);
    return EXIT.ok;
  }
  const made = await client.runs.retry(runId, { latest, keepEffects, requestId, signal });
  return await afterStart(session, made, flags);
}

/** `node=value` as a pair. */
function pairOf(flag: string, text: string): readonly [string, string] {
  const split = text.indexOf("=");
  if (split < 1) throw new UsageError(`${flag} ${text}: write it as node=value`);
  return [text.slice(0, split), text.slice(split + 1)];
}

async function outputsOf(session: Session, { setOutput = [], handle = [] }: RepairFlags) {
  const handles = new Map(handle.map((text) => pairOf("--handle", text)));
  return await Promise.all(
    setOutput.map(async (text) => {
      const [nodeId, json] = pairOf("--set-output", text);
      const outputJson = await readJsonFlag(session, "set-output", json);
      return { nodeId, outputJson, handle: handles.get(nodeId) };
    }),
  );
}

/** The plan for people, at any width. */
function printPlan(session: Session, plan: RepairPlan): void {
  const rows = plan.nodes.map((node) => [
    node.nodeId,
    repairActionName(node.action),
    node.eventId === 0n ? "" : String(node.eventId),
    changeText(node),
    effectText(node),
    node.reason,
  ]);
  const heads = ["NODE", "STATE", "EVENT", "CHANGE", "EFFECTS", "WHY"];
  const { inputTokens, outputTokens, costMicros, reservedTokens, reservedCostMicros } = plan;
  const before = amountsText(inputTokens + outputTokens, costMicros);
  const first = amountsText(reservedTokens, reservedCostMicros);
  printLines(session, [
    ...tableLines(heads, rows, canvasOf(session)),
    "",
    `${plan.reusedFacts} facts are reused${before === "" ? "" : `; what runs again took ${before} before`}`,
    ...(first === "" ? [] : [`nodes that did not run before reserve ${first}`]),
    ...plan.warnings.map((warning) => safeText(`warning: ${warning}`)),
    `plan ${plan.digest}`,
  ]);
}

/** `7 tokens and $0.05`. Empty for nothing. */
const amountsText = (tokens: bigint, costMicros: bigint): string =>
  [
    ...(tokens === 0n ? [] : [`${tokens} tokens`]),
    ...(costMicros === 0n ? [] : [usdText(Number(costMicros))]),
  ].join(" and ");

const changeText = ({ change, changedFields }: RepairNode): string =>
  change === "none" ? "" : [change, changedFields.join(" ")].filter(Boolean).join(": ");

/** Effects that may happen again: "2 idempotent". */
const effectText = ({ effects }: RepairNode): string =>
  effects
    .map(({ effectClass, committed, begun, kept }) =>
      kept ? `${committed + begun} ${effectClass}, kept` : `${committed + begun} ${effectClass}`,
    )
    .join(", ");
