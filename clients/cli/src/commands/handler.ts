// pawl dev, pawl init, pawl handler replay: programs of deploy/ that run in this terminal. And pawl handler doctor.

import { type Command, Option } from "commander";
import { collect, type Verb, wholeNumber } from "../grammar.ts";
import { type ExitCode, type Session, UsageError } from "../session.ts";
import { doctor } from "./handler-doctor.ts";

interface Nouns {
  readonly program: Command;
  readonly handler: Command;
}

const LANGUAGES = ["ts", "python", "go"];

export function handlerVerbs({ program, handler }: Nouns, verb: Verb): void {
  const dev = "Start Pawl on this machine with your handler process, and reload it on change";
  verb(program, "dev <command...>", dev, runDev)
    .option("--watch <folder>", "a folder to watch instead of this one; may be repeated", collect)
    .option("--no-stack", "only the handler process; Pawl runs already");
  const init = `Write a project of three files that runs: ${LANGUAGES.join(", ")}`;
  verb(program, "init <language> [folder]", init, runInit);
  const replay = "Run a recorded node again in a process of yours; effects are only read";
  verb(handler, "replay <run> <node> <command...>", replay, runReplay).option(
    "--iteration <number>",
    "which execution of the node, in a map or loop",
    wholeNumber,
  );
  const checks = "Check the handler port, its processes, and saved workflows against their types";
  verb(handler, "doctor", checks, doctor)
    .addOption(
      new Option(
        "--handler-address <list>",
        "host:port of an executor, or of several, separated by commas",
      )
        .env("PAWL_HANDLER_ADDRESS")
        .default("127.0.0.1:7404"),
    )
    .addOption(new Option("--token <token>", "the token of the port").env("PAWL_HANDLER_TOKEN"));
}

interface DevFlags {
  readonly watch?: readonly string[];
  readonly stack: boolean;
}

async function runDev(
  session: Session,
  command: readonly string[],
  { watch = [], stack }: DevFlags,
): Promise<ExitCode> {
  const folders = watch.flatMap((folder) => ["--watch", folder]);
  return session.runTool("dev", [...folders, ...(stack ? [] : ["--no-stack"]), "--", ...command]);
}

async function runInit(session: Session, language: string, folder?: string): Promise<ExitCode> {
  if (!LANGUAGES.includes(language))
    throw new UsageError(`there is no project for ${language}; choose ${LANGUAGES.join(", ")}`);
  return session.runTool("init", [language, ...(folder === undefined ? [] : [folder])]);
}

async function runReplay(
  session: Session,
  runId: string,
  nodeId: string,
  command: readonly string[],
  { iteration = 0 }: { readonly iteration?: number },
): Promise<ExitCode> {
  const args = ["--address", session.address, "--iteration", String(iteration), runId, nodeId];
  return session.runTool("replay", [...args, "--", ...command]);
}
