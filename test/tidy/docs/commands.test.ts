// Every command that a document shows can be typed: npm has the script, and the command line of Pawl knows the words and flags.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ROOT, trackedSources } from "../sources.ts";
import { type CliCommand, pawlGrammar } from "./cli.ts";
import { fencesOf, inlineCodeOf } from "./markdown.ts";
import { commandsOf, pawlWords } from "./shell.ts";

const documents = trackedSources((path) => path.endsWith(".md") && path !== "CHANGELOG.md");
const scripts = documents.flatMap(({ path, text }) =>
  fencesOf(text)
    .filter(({ language }) => /^(sh|bash|console)$/.test(language))
    .flatMap(({ text: script, line }) =>
      commandsOf(script).map((words) => ({ at: `${path}:${line}`, words })),
    ),
);
const mentions = documents.flatMap(({ path, text }) =>
  inlineCodeOf(text).flatMap(({ text: code, line }) =>
    commandsOf(code).map((words) => ({ at: `${path}:${line}`, words })),
  ),
);

/** Why a whole command line is refused, by the program's own parser. */
async function refusal(words: readonly string[]): Promise<string | undefined> {
  const printed: string[] = [];
  try {
    await pawlGrammar((text) => void printed.push(text)).parseAsync([...words], { from: "user" });
    return undefined;
  } catch (thrown) {
    const isHelp = thrown instanceof Error && /help/i.test(thrown.message) && printed.length > 0;
    return isHelp && words.includes("--help") ? undefined : printed.join("") || String(thrown);
  }
}

/** A command that is only mentioned may lack its arguments; its nouns, verbs and flags have to exist. */
function unknownWord(words: readonly string[]): string | undefined {
  let command: CliCommand = pawlGrammar();
  for (const [at, word] of words.entries()) {
    const below = command.commands.find((one) => one.name() === word);
    if (below !== undefined) command = below;
    else if (at < 2 && command.commands.length > 0 && !word.startsWith("-")) return word;
    else if (/^--?[a-z]/.test(word) && !knows(command, word)) return word;
  }
  return undefined;
}

const knows = (command: CliCommand, flag: string): boolean =>
  ["--help", "-h"].includes(flag) ||
  command.options.some(({ long, short }) => long === flag || short === flag);

test("every pawl command of a code block is accepted by the command line's own grammar", async () => {
  const calls = scripts.flatMap(({ at, words }) => {
    const own = pawlWords(words);
    return own === undefined ? [] : [{ at, own }];
  });
  const faults = await Promise.all(
    calls.map(async ({ at, own }) => {
      const why = await refusal(own);
      return why === undefined ? [] : [`${at}: pawl ${own.join(" ")}: ${why}`];
    }),
  );
  expect(faults.flat()).toEqual([]);
  expect(calls.length).toBeGreaterThan(20);
});

test("every pawl command that the text mentions exists, with its flags", () => {
  const faults = mentions.flatMap(({ at, words }) => {
    const own = pawlWords(words);
    const unknown = own === undefined ? undefined : unknownWord(own);
    return unknown === undefined ? [] : [`${at}: ${words.join(" ")}: ${unknown}`];
  });
  expect(faults).toEqual([]);
});

test("every npm command is a script", () => {
  const file = readFileSync(join(ROOT, "package.json"), "utf8");
  // The file is ours; vitest reads the same scripts.
  const known = Object.keys((JSON.parse(file) as { scripts: Record<string, string> }).scripts);
  const faults = [...scripts, ...mentions].flatMap(({ at, words: [program, verb, ...more] }) => {
    if (program !== "npm") return [];
    const script = verb === "run" ? more.find((word) => !word.startsWith("-")) : verb;
    const isScript = verb === "run" || verb === "start" || verb === "test";
    return isScript && !known.includes(script ?? "") ? [`${at}: npm ${verb} ${script}`] : [];
  });
  expect(faults).toEqual([]);
});

test("a wrong command is noticed", async () => {
  expect(await refusal(["run", "start", "greet", "--wait"])).toBeUndefined();
  expect(await refusal(["run", "begin", "greet"])).toContain("unknown command");
  expect(await refusal(["run", "start", "greet", "--no-such-flag"])).toContain("unknown option");
  expect(await refusal(["run", "cancel"])).toContain("missing required argument");
  expect(unknownWord(["run", "explain"])).toBeUndefined();
  expect(unknownWord(["run", "expalin"])).toBe("expalin");
  expect(unknownWord(["workflow", "apply", "--fiel"])).toBe("--fiel");
});

test("the words of a shell line are found", () => {
  const script = `./pawl run start greet --input '{"a b": 1}' --wait | jq .x # why\nnpm run \\\n  docs`;
  expect(commandsOf(script)).toEqual([
    ["./pawl", "run", "start", "greet", "--input", '{"a b": 1}', "--wait"],
    ["jq", ".x"],
    ["npm", "run", "docs"],
  ]);
});
