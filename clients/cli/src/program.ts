// The grammar of the command: nouns, verbs, flags. Everything it does is in commands/.

import { RUN_STATUS_NAMES } from "@pawl/client";
import { Command, CommanderError, InvalidArgumentError, Option } from "commander";
import { approvalVerbs } from "./approval-verbs.ts";
import { runDecide } from "./commands/run-decide.ts";
import { runEffects } from "./commands/run-effects.ts";
import { runExplain } from "./commands/run-explain.ts";
import { runCancel, runDelete, runGet, runList, runRecheck } from "./commands/run-read.ts";
import { runStart, runTest } from "./commands/run-start.ts";
import { runWatch } from "./commands/run-watch.ts";
import {
  workflowApply,
  workflowDelete,
  workflowGet,
  workflowList,
  workflowValidate,
} from "./commands/workflow.ts";
import { deadLetterVerbs } from "./dead-letter-verbs.ts";
import { EXIT, type ExitCode } from "./exit-code.ts";
import { pauseVerbs } from "./pause-verbs.ts";
import { scheduleVerbs } from "./schedule-verbs.ts";
import { REQUEST_ID, addHelp } from "./help.ts";
import { faultOf } from "./render/fault.ts";
import type { Format, Host, Session } from "./session.ts";
import { wholeApprovalId, wholeRunId } from "./whole-id.ts";

interface SessionFlags {
  readonly address: string;
  readonly output: Format;
}

type Action = (session: Session, ...values: never[]) => Promise<ExitCode>;

/** Runs one command line (without node and script) and says how it went. */
export async function runProgram(host: Host, args: readonly string[]): Promise<ExitCode> {
  let exitCode: ExitCode = EXIT.ok;
  let address = host.defaultAddress;
  /** Gives a verb its session; positional values come first, flags after them. */
  const act = (action: Action) =>
    async function (this: Command, ...values: unknown[]): Promise<void> {
      const flags = this.opts<SessionFlags>();
      address = flags.address.replace(/\/+$/, "");
      const session = { ...host, address, format: flags.output, client: host.connect(address) };
      // The last value is the Command itself; commander passes the others as the grammar below declares them.
      const given = await withWholeIds(session, this, values.slice(0, -1));
      exitCode = await action(session, ...(given as never[]));
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
    host.terminal.writeError(fault.lines.map((line) => `${line}\n`).join(""));
    return fault.exitCode;
  }
}

/** The end of an id that a table shows is as good as the whole id. */
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

/** The nouns, verbs and flags of the program. `act` wraps what a verb does. */
export function grammar(host: Host, act: Act): Command {
  const verb: Verb = (noun, name, description) =>
    noun
      .command(name)
      .description(description)
      // Help names these two once, at its end.
      .addOption(new Option("--address <url>").default(host.defaultAddress).hideHelp())
      .addOption(
        new Option("-o, --output <format>").choices(["table", "json"]).default("table").hideHelp(),
      );
  const program = new Command(host.self)
    .description("Workflows that must not be lost, doubled or stuck.")
    .version(host.version, "--version", "print the version")
    // Its own flags come before the noun: `run start --version 2` is about the workflow.
    .enablePositionalOptions()
    .exitOverride()
    .configureOutput({
      writeOut: (text) => host.terminal.write(text),
      writeErr: (text) => host.terminal.writeError(text),
    })
    .showHelpAfterError("Add --help to see how it is called.");
  const run = program.command("run").description("Start, watch and read runs");
  inputFlags(verb(run, "start <workflow>", "Start a run of a saved workflow"))
    .option("--version <number>", "which version; default the newest", wholeNumber)
    .option("--priority <number>", "-1000 to 1000; lower numbers run first", wholeNumber)
    .option("--deadline <duration>", "how long it may take: 30s, 10m, 2h")
    .option(
      "--dedupe-input <duration>",
      "do not start a second run for the same input within this time, such as 24h",
    )
    .action(act(runStart));
  inputFlags(verb(run, "test", "Run a definition without saving it"))
    .requiredOption("-f, --file <path>", "the definition, JSON or YAML; - for standard input")
    .action(act(runTest));
  verb(run, "watch <run>", "Follow a run to its end; Ctrl-C stops watching, not the run")
    .option("--after <event>", "only events after this event id", wholeNumber)
    .action(act(runWatch));
  verb(run, "get <run>", "Show a run and its nodes").action(act(runGet));
  askingVerbs(run, verb, act);
  verb(run, "list", "List runs, newest first")
    .option("--status <status...>", `only these: ${RUN_STATUS_NAMES.join(", ")}`)
    .option("--workflow <id>", "only this workflow")
    .option("--schedule <id>", "only runs that this schedule started")
    .option("--limit <number>", "how many at most", wholeNumber)
    .option("--page-token <token>", "the next page")
    .action(act(runList));
  verb(run, "cancel <run>", "Cancel a run: abort running nodes, start no others")
    .option("--reason <text>", "why; shown to people")
    .action(act(runCancel));
  verb(
    run,
    "recheck <run>",
    "Verify the whole log of a quarantined run; release the run when the log is intact",
  ).action(act(runRecheck));
  verb(run, "delete <run>", "Stop and delete a test run, with its history").action(act(runDelete));
  verb(run, "decide <run> <node> <decision>", "Approve or reject a node that waits for a person")
    .option("--iteration <number>", "which execution of the node; default 0", wholeNumber)
    .option("--comment <text>", "comment on the decision")
    .action(act(runDecide));
  const workflow = program.command("workflow").description("Save, check and read workflows");
  workflowVerbs(workflow, verb, act);
  approvalVerbs(program, { verb, act, wholeNumber });
  scheduleVerbs(program, { verb, act, wholeNumber, collect });
  const queue = program.command("queue").description("Show queue depth; pause and resume queues");
  deadLetterVerbs(program, queue, { verb, act, wholeNumber });
  pauseVerbs({ run, workflow, queue }, { verb, act });
  addHelp(program, host.self);
  return program;
}

type Act = (action: Action) => (this: Command, ...values: unknown[]) => Promise<void>;
type Verb = (noun: Command, name: string, description: string) => Command;

/** Questions about a run that look behind its state. */
function askingVerbs(run: Command, verb: Verb, act: Act): void {
  verb(
    run,
    "explain <run> <node>",
    "Explain why a node waits, runs or ended as it did, and what to do",
  )
    .option("--iteration <number>", "which execution of the node, in a loop or map", wholeNumber)
    .action(act(runExplain));
  verb(run, "effects <run>", "List what a run did to the outside world")
    .option("--node <id>", "only this node")
    .option("--limit <number>", "how many at most", wholeNumber)
    .option("--page-token <token>", "the next page")
    .action(act(runEffects));
}

function workflowVerbs(workflow: Command, verb: Verb, act: Act): void {
  verb(workflow, "apply", "Create or update a workflow")
    .requiredOption("-f, --file <path>", "the definition, JSON or YAML; - for standard input")
    .option("--id <id>", "workflow id; default: the id in the definition")
    .option("--strict", "refuse a definition with warnings")
    .action(act(workflowApply));
  verb(workflow, "validate", "Check a definition and list every broken rule")
    .requiredOption("-f, --file <path>", "the definition, JSON or YAML; - for standard input")
    .option("--strict", "warnings count as broken rules")
    .action(act(workflowValidate));
  verb(workflow, "list", "List workflows")
    .option("--limit <number>", "how many at most", wholeNumber)
    .option("--page-token <token>", "the next page")
    .action(act(workflowList));
  verb(workflow, "get <workflow>", "Print the definition of a workflow")
    .option("--version <number>", "which version; default the newest", wholeNumber)
    .action(act(workflowGet));
  verb(workflow, "delete <workflow>", "Delete a workflow; its runs keep their history")
    .option("--force", "delete although runs are live; they run to their end")
    .action(act(workflowDelete));
}

const inputFlags = (command: Command): Command =>
  command
    .option("--input <json>", "the input: JSON, or @FILE")
    .option("--sample", "use the example input of the workflow")
    .option("--set <key=value>", "set one key of the input; may be repeated", collect)
    .option("--wait", "wait for the end; exit code 1 unless the run completes")
    .option("--request-id <id>", REQUEST_ID);

const collect = (value: string, before: readonly string[] | undefined): readonly string[] => [
  ...(before ?? []),
  value,
];

function wholeNumber(text: string): number {
  const value = Number(text);
  if (text.trim() === "" || !Number.isSafeInteger(value)) {
    throw new InvalidArgumentError("It must be a whole number.");
  }
  return value;
}
