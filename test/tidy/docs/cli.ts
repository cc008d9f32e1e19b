// The commands in docs/reference/cli.md: what `--help` of every command prints on a terminal of 80 columns.
import { grammar } from "@pawl/cli/program";
import { EXIT, type Host } from "@pawl/cli/session";
import { createPawlClient } from "@pawl/client";
import { code, table } from "./table.ts";

/** A command of the program's grammar. */
export type CliCommand = ReturnType<typeof grammar>;

/** The whole grammar, with actions that do nothing; what commander prints goes to `write`. */
export function pawlGrammar(write: (text: string) => void = () => {}): CliCommand {
  const host: Host = {
    terminal: {
      write,
      writeError: write,
      isTty: false,
      hasColour: false,
      width: () => 80,
      height: () => 24,
    },
    version: "0.0.0",
    defaultAddress: "http://127.0.0.1:7400",
    self: "./pawl",
    connect: (baseUrl) => createPawlClient({ baseUrl }),
    readText: async () => "",
    runTool: async () => 0,
    now: () => 0,
    interrupted: new AbortController().signal,
  };
  return grammar(host, () => async () => {});
}

/** Every command without subcommands, with the words that lead to it. */
function leaves(
  command: CliCommand,
  path: readonly string[] = [],
): readonly { readonly path: readonly string[]; readonly command: CliCommand }[] {
  const below = command.commands.filter((one) => one.name() !== "help");
  if (below.length === 0) return [{ path, command }];
  return below.flatMap((one) => leaves(one, [...path, one.name()]));
}

/** One row for every command. */
export function commandTable(): string {
  const rows = leaves(pawlGrammar()).map(({ path, command }) => {
    const typed = `pawl ${path.join(" ")}`;
    return [`[${code(typed)}](#${typed.replaceAll(" ", "-")})`, `${command.description()}.`];
  });
  return table(["command", "what it does"], rows);
}

/** One section for every command: its own help. */
export function commandSections(): string {
  const printed: string[] = [];
  const program = pawlGrammar((text) => void printed.push(text));
  return leaves(program)
    .map(({ path, command }) => {
      printed.length = 0;
      command.configureHelp({ ...command.configureHelp(), helpWidth: 80 });
      command.outputHelp();
      const help = printed.join("").trimEnd();
      return `### ${code(`pawl ${path.join(" ")}`)}\n\n\`\`\`text\n${help}\n\`\`\``;
    })
    .join("\n\n");
}

const EXIT_WORDS: Readonly<Record<keyof typeof EXIT, string>> = {
  ok: "The command did what was asked.",
  failed: "The run did not complete, or the definition is invalid.",
  usage: "The command line is wrong, or a file cannot be read.",
  server: "The gateway refused the call or cannot be reached.",
  interrupted: "Ctrl-C ended the wait before the run ended.",
};

/** Every exit code. */
export function exitTable(): string {
  const rows = Object.entries(EXIT_WORDS).map(([name, words]) => [
    // The words have a key for every exit code, and no other; the compiler holds the two together.
    code(String(EXIT[name as keyof typeof EXIT])),
    words,
  ]);
  return table(["exit code", "meaning"], rows);
}
