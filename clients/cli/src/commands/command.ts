// pawl command start, resume, get, list, cancel, redrive, discard.

import {
  commandStateName,
  commandStateOf,
  commandTypeName,
  type Commands,
  plainCommand,
} from "@pawl/client";
import { CommandState, type QueuedCommand } from "@pawl/proto/pawl/v1/queued_command_pb";
import type { Command } from "commander";
import { durationMs } from "../time-flags.ts";
import {
  atLeast,
  limitFlag,
  type PageFlags,
  pageFlags,
  requestIdFlag,
  type Verb,
  wholeNumber,
} from "../grammar.ts";
import { factLines } from "../render/table.ts";
import { isoText } from "../render/words.ts";
import { readJsonFlag, readRunInput } from "../run-input.ts";
import { canvasOf, print, printLines, printList, type Session, UsageError } from "../session.ts";

export function commandVerbs(command: Command, verb: Verb): void {
  const enqueueFlags = (each: Command): Command =>
    requestIdFlag(each)
      .option("--priority <number>", "lower is sooner; default 0", wholeNumber)
      .option("--delay <duration>", "how long it waits at least: 30s, 10m, 2h")
      .option("--max-attempts <number>", "failures before it is given up; default 3", atLeast(1));
  enqueueFlags(verb(command, "start <workflow>", "Enqueue the start of a run", start))
    .option("--input <json>", "the input: JSON, or @FILE")
    .option("--run-id <uuid>", "a name of the run for a later resume; default the command's id");
  const answer = "Enqueue the answer to a node that waits for a person: approve or reject";
  enqueueFlags(verb(command, "resume <run-name> <node> <decision>", answer, resume))
    .requiredOption("--workflow <id>", "the workflow of the run")
    .option("--iteration <number>", "which execution of the node; default 0", wholeNumber)
    .option("--response <json>", "the response: JSON, or @FILE")
    .option("--comment <text>", "comment on the answer")
    .option("--by <name>", "name of the person who answers");
  verb(command, "get <command>", "Show a command, its state and its run", get);
  pageFlags(verb(command, "list", "List commands, newest first", list)).option(
    "--state <state...>",
    "only these: waiting, active, paused, completed, dead_letter, cancelled, discarded",
  );
  requestIdFlag(verb(command, "cancel <command>", "End a command that waits", cancel));
  for (const [name, description] of [
    ["redrive", "Let commands that were given up wait again"],
    ["discard", "Close commands that were given up"],
  ] as const)
    limitFlag(verb(command, `${name} [commands...]`, description, each(name))).option(
      "--all",
      "all that were given up",
    );
}

interface EnqueueFlags {
  readonly requestId?: string;
  readonly priority?: number;
  readonly delay?: string;
  readonly maxAttempts?: number;
}

const optionsOf = (session: Session, { delay, ...flags }: EnqueueFlags) => ({
  ...{ requestId: flags.requestId, priority: flags.priority, maxAttempts: flags.maxAttempts },
  delayMs: durationMs("--delay", delay),
  signal: session.interrupted,
});

async function start(
  session: Session,
  workflowId: string,
  flags: EnqueueFlags & { readonly input?: string; readonly runId?: string },
): Promise<void> {
  const { input, runId } = flags;
  const inputJson = await readRunInput(session, input === undefined ? {} : { input });
  const asked = { ...optionsOf(session, flags), inputJson, runId };
  printEnqueued(session, await session.client.commands.start(workflowId, asked));
}

interface ResumeFlags extends EnqueueFlags {
  readonly workflow: string;
  readonly iteration?: number;
  readonly response?: string;
  readonly comment?: string;
  readonly by?: string;
}

async function resume(
  session: Session,
  runName: string,
  nodeId: string,
  decision: string,
  flags: ResumeFlags,
): Promise<void> {
  if (decision !== "approve" && decision !== "reject")
    throw new UsageError(`The decision is approve or reject, not ${decision}.`);
  const { workflow: workflowId, iteration, comment, by: decidedBy } = flags;
  const { response } = flags;
  const responseJson =
    response === undefined ? undefined : await readJsonFlag(session, "response", response);
  const answer = { workflowId, iteration, comment, decidedBy, responseJson };
  const asked = { ...optionsOf(session, flags), ...answer };
  const command = await session.client.commands.resume(runName, nodeId, decision, asked);
  printEnqueued(session, command);
}

const printEnqueued = (session: Session, command: QueuedCommand): void =>
  print(session, plainCommand(command), () => [
    `${command.commandId} ${commandStateName(command.state)}`,
    `Look at it with \`${session.self} command get ${command.commandId}\`.`,
  ]);

async function get(session: Session, commandId: string): Promise<void> {
  const { client, interrupted: signal } = session;
  const command = await client.commands.get(commandId, { signal });
  print(session, plainCommand(command), () => commandLines(session, command));
}

function commandLines(session: Session, command: QueuedCommand): readonly string[] {
  const { state, attempts, maxAttempts, errorMessage, priority, answer } = command;
  const canvas = canvasOf(session);
  const facts: readonly (readonly [string, string])[] = [
    ["command", command.commandId],
    ["state", commandStateName(state)],
    ["type", typeOf(command)],
    ["workflow", command.workflowId],
    ["run name", command.runId],
    ["run", command.startedRunId],
    ["node", answer?.nodeId ?? ""],
    ["priority", String(priority)],
    ["failures", `${attempts} of ${maxAttempts}`],
    ["error", errorMessage],
    ["enqueued", isoText(command.createTime)],
    ["due", isoText(command.dueTime)],
  ];
  return facts.flatMap(([name, text]) => factLines(name, { text }, canvas));
}

const typeOf = ({ type }: QueuedCommand): string =>
  type === 0 ? "not a command" : commandTypeName(type);

async function list(
  session: Session,
  { state, limit: pageSize, pageToken }: PageFlags & { readonly state?: readonly string[] },
): Promise<void> {
  const states = (state ?? []).map((name) => {
    const known = commandStateOf(name);
    if (known === undefined) throw new UsageError(`There is no state ${name} of commands.`);
    return known;
  });
  const { client, interrupted: signal, self } = session;
  const { commands, nextPageToken } = await client.commands.list({
    ...{ states, pageSize, pageToken, signal },
  });
  printList(session, {
    items: commands,
    json: { commands: commands.map(plainCommand), nextPageToken },
    none: "No commands.",
    heads: ["COMMAND", "STATE", "TYPE", "WORKFLOW", "FAILED", "DUE", "ERROR"],
    rowOf: (command) => [
      command.commandId,
      commandStateName(command.state),
      typeOf(command),
      command.workflowId,
      String(command.attempts),
      isoText(command.dueTime),
      command.errorMessage,
    ],
    next: [`${self} command list`, nextPageToken],
  });
}

async function cancel(
  session: Session,
  commandId: string,
  { requestId }: { readonly requestId?: string },
): Promise<void> {
  const { client, interrupted: signal } = session;
  const command = await client.commands.cancel(commandId, { requestId, signal });
  print(session, plainCommand(command), () => [`${commandId} ${commandStateName(command.state)}`]);
}

interface ManyFlags {
  readonly all?: boolean;
  readonly limit?: number;
}

/** Redrives or discards commands one by one: those that are named, or all that were given up. */
const each =
  (verb: "redrive" | "discard") =>
  async (session: Session, ids: readonly string[], { all, limit }: ManyFlags): Promise<void> => {
    if (ids.length === 0 && all !== true)
      throw new UsageError("Name commands, or give --all for all that were given up.");
    const { client, interrupted: signal } = session;
    const changed: QueuedCommand[] = [];
    const wanted = ids.length > 0 ? ids : await deadCommands(client.commands, limit, signal);
    for (const commandId of wanted) {
      const command = await client.commands[verb](commandId, { signal });
      changed.push(command);
      if (session.format === "table")
        printLines(session, [`${commandId} ${commandStateName(command.state)}`]);
    }
    print(session, { commands: changed.map(plainCommand) }, () => [
      `${changed.length} ${verb === "redrive" ? "redriven" : "discarded"}`,
    ]);
  };

/** The commands that were given up, newest first. They are listed before the first of them is changed. */
async function deadCommands(
  commands: Commands,
  limit = Infinity,
  signal?: AbortSignal,
): Promise<readonly string[]> {
  const ids: string[] = [];
  const states = [CommandState.DEAD_LETTER];
  let pageToken = "";
  do {
    const page = await commands.list({ states, pageToken, signal });
    ids.push(...page.commands.map(({ commandId }) => commandId));
    pageToken = page.nextPageToken;
  } while (pageToken !== "" && ids.length < limit);
  return ids.slice(0, limit);
}
