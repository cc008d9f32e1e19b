// Runs a command line: the nouns with their verbs, the session of a verb, and the exit code. The verbs are in commands/.

import { Command, CommanderError, Option } from "commander";
import { archiveVerbs, exportVerb } from "./commands/archive.ts";
import { approvalVerbs } from "./commands/approval.ts";
import { budgetVerb } from "./commands/budget.ts";
import { deadLetterVerbs } from "./commands/dead-letter.ts";
import { bulkVerbs } from "./commands/bulk.ts";
import { commandVerbs } from "./commands/command.ts";
import { configVerbs } from "./commands/config.ts";
import { handlerVerbs } from "./commands/handler.ts";
import { filterVerbs } from "./commands/filter.ts";
import { nodeTypeVerbs } from "./commands/node-type.ts";
import { pauseVerbs } from "./commands/pause.ts";
import { queueStatsVerb } from "./commands/queue-stats.ts";
import { topUpVerb } from "./commands/top-up.ts";
import { runVerbs } from "./commands/run.ts";
import { scheduleVerbs } from "./commands/schedule.ts";
import { webhookVerbs } from "./commands/webhook.ts";
import { assistantVerbs } from "./commands/assistant.ts";
import { threadVerbs } from "./commands/thread.ts";
import { workflowVerbs } from "./commands/workflow.ts";
import {
  EXIT,
  type ExitCode,
  type Format,
  type Host,
  printNotes,
  type Session,
} from "./session.ts";
import type { Action, Verb } from "./grammar.ts";
import { faultOf } from "./render/fault.ts";
import { wholeApprovalId, wholeRunId } from "./whole-id.ts";

interface SessionFlags {
  readonly address: string;
  readonly output: Format;
}

/** Runs one command line (without node and script) and returns its exit code. */
export async function runProgram(host: Host, args: readonly string[]): Promise<ExitCode> {
  let exitCode: ExitCode = EXIT.ok;
  let address = host.defaultAddress;
  /** Runs a verb with its session. */
  const act = (action: Action) =>
    async function (this: Command, ...values: unknown[]): Promise<void> {
      const flags = this.opts<SessionFlags>();
      address = flags.address.replace(/\/+$/, "");
      const session = { ...host, address, format: flags.output, client: host.connect(address) };
      // The last value is the Command itself. commander passes the others in the order of the grammar.
      const given = await withWholeIds(session, this, values.slice(0, -1));
      exitCode = (await action(session, ...(given as never[]))) ?? EXIT.ok;
    };
  try {
    await grammar(host, act).parseAsync([...args], { from: "user" });
    return exitCode;
  } catch (thrown) {
    if (thrown instanceof CommanderError) return thrown.exitCode === 0 ? EXIT.ok : EXIT.usage;
    if (host.interrupted.aborted) {
      host.terminal.writeError("\nInterrupted.\n");
      return EXIT.interrupted;
    }
    const fault = faultOf(thrown, { address, self: host.self });
    printNotes(host, fault.lines);
    return fault.exitCode;
  }
}

/** A person may type the end of an id, as in a table, instead of the whole id. */
async function withWholeIds(
  session: Session,
  { registeredArguments }: Command,
  values: readonly unknown[],
): Promise<unknown[]> {
  return Promise.all(
    values.map((value, at) => {
      const name = registeredArguments[at]?.name();
      if (typeof value !== "string") return value;
      if (name === "run") return wholeRunId(session, value);
      return name === "approval" ? wholeApprovalId(session, value) : value;
    }),
  );
}

/** The nouns, verbs and flags of the program. `act` wraps the work of a verb. */
export function grammar(
  host: Host,
  act: (action: Action) => (this: Command, ...values: unknown[]) => Promise<void>,
): Command {
  const verb: Verb = (noun, name, description, action) =>
    noun
      .command(name)
      .description(description)
      // Help names these two once, at its end.
      .addOption(new Option("--address <url>").default(host.defaultAddress).hideHelp())
      .addOption(
        new Option("-o, --output <format>").choices(["table", "json"]).default("table").hideHelp(),
      )
      .action(act(action));
  const program = new Command(host.self)
    .description("Workflows that must not be lost, doubled or stuck.")
    .version(host.version, "--version", "print the version")
    // Flags of the program come before the noun: `run start --version 2` is about the workflow.
    .enablePositionalOptions()
    .exitOverride()
    .configureOutput({
      writeOut: (text) => host.terminal.write(text),
      writeErr: (text) => host.terminal.writeError(text),
    })
    .showHelpAfterError("Add --help to see how it is called.");
  const noun = (name: string, description: string): Command =>
    program.command(name).description(description);
  const run = noun("run", "Start, watch and read runs");
  const workflow = noun("workflow", "Save, check and read workflows");
  runVerbs(run, verb);
  workflowVerbs(workflow, verb);
  approvalVerbs(noun("approval", "List and answer questions to people"), verb);
  scheduleVerbs(noun("schedule", "Run workflows at set times"), verb);
  webhookVerbs(noun("webhook", "Send events to addresses, and read what was delivered"), verb);
  assistantVerbs(noun("assistant", "Keep workflows with fixed values"), verb);
  threadVerbs(noun("thread", "Keep lines of runs that share a memory"), verb);
  const queue = noun("queue", "Show queue depth; pause and resume queues");
  queueStatsVerb(queue, verb);
  commandVerbs(noun("command", "Enqueue commands that a scheduler carries out later"), verb);
  const letter = noun("dead-letter", "Handle nodes that lost three executors and were given up");
  deadLetterVerbs({ queue, letter }, verb);
  pauseVerbs({ run, workflow, queue }, verb);
  topUpVerb(run, verb);
  exportVerb(run, verb);
  archiveVerbs(noun("archive", "Read runs that were archived, and put them back"), verb);
  budgetVerb(program, verb);
  filterVerbs(noun("filter", "Keep filters of runs"), verb);
  bulkVerbs(noun("bulk", "Act on all runs that a filter finds"), verb);
  configVerbs(noun("config", "Check and print the configuration of services"), verb);
  const nodeType = noun("node-type", "List node types and read their schemas");
  nodeTypeVerbs({ nodeType, executor: noun("executor", "List connected executors") }, verb);
  handlerVerbs({ program, handler: noun("handler", "Try and check handlers of your own") }, verb);
  addHelp(program, host.self);
  return program;
}

const SHARED = `
Every command takes:
  --address <url>        gateway; default: PAWL_ADDRESS or http://127.0.0.1:7400
  -o, --output <format>  table or json`;

/** Examples by command, without the name of this program. */
const EXAMPLES: Readonly<Record<string, readonly string[]>> = {
  "": [
    "workflow apply -f greet.yaml",
    'run start greet --input \'{"name": "Ada"}\' --wait',
    "run list --status failed",
    "approval list",
  ],
  "run start": [
    "run start hello --set name=Ada --wait",
    "run start order-review --sample --wait",
    "run start hello --input @input.json -o json | jq -r .runId",
  ],
  "run test": ["run test -f greet.yaml --sample --wait"],
  "run watch": [
    "run watch 8918bc96            # the end of a run id is enough",
    "run watch RUN --after 20",
  ],
  "thread watch": ["thread watch chat-7 --mode messages", "thread watch chat-7 --skip-finished"],
  "run list": ["run list --status failed timeout", "run list --workflow greet --limit 5"],
  "run explain": ["run explain RUN approve-refund"],
  "run taint": ["run taint RUN pay", "run taint RUN summary -o json"],
  "workflow apply": ["workflow apply -f greet.yaml", "cat greet.yaml | SELF workflow apply -f -"],
  "approval approve": [
    "approval approve 8918bc96 --by ada --comment 'checked'",
    "approval approve 8918bc96 --response '{\"amount\": 480}'",
  ],
  "schedule create": [
    "schedule create nightly --workflow nightly-report --cron '30 2 * * *' --time-zone Europe/Berlin",
  ],
  "webhook create": ["webhook create ops --url https://example.com/hook --event run.failed"],
  "webhook deliveries": ["webhook deliveries --state dead"],
  "run top-up": ["run top-up 8918bc96 --tokens 5000 --reason 'the report is worth it'"],
  budget: ["budget", "budget answer-mail"],
  "bulk start": [
    "bulk start retry --filter 'status = failed AND workflow = greet' --dry-run",
    "bulk start cancel --saved late --canary 5 --abort-failed 3 --wait",
  ],
  "archive restore": [
    "archive restore 019a8b3e-1111-7000-8000-000000000001",
    "archive restore --month 2026-06 --filter 'status = failed'",
  ],
  "run export": ["run export 8918bc96 > run.ndjson"],
  "queue pause": ["queue pause http --by ada --reason 'the partner is down'"],
  "queue stats": ["queue stats", "queue stats --range 1d --node-type http", "queue stats --watch"],
  "command start": [
    'command start nightly-report --input \'{"day": "2026-01-31"}\' --delay 2h',
    "command start order-review --priority -10 --max-attempts 5",
  ],
  "command list": ["command list --state waiting dead_letter"],
  "node-type get": [
    "node-type get acme.price",
    "node-type get acme.price -o json | jq .inputSchema",
  ],
  dev: ["dev -- node handlers.ts", "dev --watch src -- python app.py"],
  init: ["init python my-handlers"],
  "handler replay": ["handler replay 8918bc96 charge -- python app.py"],
  "dead-letter redrive": ["dead-letter preview --workflow greet", "dead-letter redrive --all"],
};

/** Adds both to a command and to all below it. */
function addHelp(command: Command, self: string, path: readonly string[] = []): void {
  const lines = EXAMPLES[path.join(" ")] ?? [];
  const typed = lines.map((line) =>
    line.includes("SELF") ? `  ${line.replace("SELF", self)}` : `  ${self} ${line}`,
  );
  const examples = typed.length === 0 ? "" : `\nExamples:\n${typed.join("\n")}\n`;
  const isLeaf = command.commands.length === 0;
  command.addHelpText("after", `${examples}${isLeaf || path.length === 0 ? SHARED : ""}`);
  for (const below of command.commands) addHelp(below, self, [...path, below.name()]);
}
