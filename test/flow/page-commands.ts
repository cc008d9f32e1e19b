// The commands that a page shows, typed by the real command line against a real gateway. A test that uses them fails if the page is wrong.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { runProgram } from "@pawl/cli/program";
import { createPawlClient } from "@pawl/client";
import { fencesOf } from "../tidy/docs/markdown.ts";
import { commandsOf, pawlWords } from "../tidy/docs/shell.ts";
import { ROOT } from "../tidy/sources.ts";

/** What a command printed, and its exit code. */
type Typed = { readonly code: number; readonly text: string };

/** Words of a page in capitals, such as RUN, and what a person would type instead. */
type Names = Readonly<Record<string, string>>;

/** A page whose commands a test types. */
export class TypedPage {
  readonly #text: string;
  readonly #url: string;
  /** The heading and the text of each code block that a test used. */
  readonly #used = new Set<string>();

  constructor(path: string, url: string) {
    this.#text = readFileSync(join(ROOT, path), "utf8");
    this.#url = url;
  }

  /** Types the commands of the first code block after these words of a section. */
  async type(heading: string, words: string, names: Names = {}): Promise<Typed> {
    let text = "";
    let code = 0;
    for (const command of this.#commands(heading, words)) {
      const typed = command.map((word) => this.#filled(word, names));
      const own = pawlWords(typed);
      if (own === undefined) text += await this.#fetched(typed);
      else code = Math.max(code, await this.#run(own, (chunk) => (text += chunk)));
    }
    return { code, text };
  }

  /** The settings before each command of such a block: `NAME=value npm start`. */
  settings(heading: string, words: string): readonly Readonly<Record<string, string>>[] {
    return commandsOf(this.#fence(heading, words)).map((command) =>
      Object.fromEntries(
        command.flatMap((word) => {
          const [, name, value] = /^([A-Z_]+)=(.*)$/.exec(word) ?? [];
          return name === undefined || value === undefined ? [] : [[name, value]];
        }),
      ),
    );
  }

  /** The code blocks with commands that no test used. */
  unused(): readonly string[] {
    return this.#text.split("\n## ").flatMap((section) => {
      const [heading = ""] = section.split("\n");
      return fencesOf(section)
        .filter(({ text }) => commandsOf(text).length > 0)
        .map(({ text }) => `${heading}\n${text}`)
        .filter((block) => !this.#used.has(block));
    });
  }

  #commands(heading: string, words: string): readonly (readonly string[])[] {
    const commands = commandsOf(this.#fence(heading, words));
    if (commands.length === 0) throw new Error(`no command follows "${words}"`);
    return commands;
  }

  /** What `curl -s` prints of this path at the gateway of the test. */
  async #fetched([program, flag, address = ""]: readonly string[]): Promise<string> {
    if (program !== "curl" || flag !== "-s") throw new Error(`a test cannot type ${program}`);
    const answer = await fetch(new URL(new URL(address).pathname, this.#url));
    return answer.text();
  }

  #fence(heading: string, words: string): string {
    const [, section = ""] = this.#text.split(`\n## ${heading}\n`);
    const [own = ""] = section.split("\n## ");
    const at = own.indexOf(words);
    if (at === -1) throw new Error(`the page has no "${words}" under "${heading}"`);
    const text = fencesOf(own.slice(at))[0]?.text ?? "";
    this.#used.add(`${heading}\n${text}`);
    return text;
  }

  #filled(word: string, names: Names): string {
    if (!/^[A-Z]+(=[A-Z]+)?$/.test(word)) return word;
    if (word.includes("="))
      return word
        .split("=")
        .map((part) => this.#filled(part, names))
        .join("=");
    const name = names[word];
    if (name === undefined) throw new Error(`the test does not say what to type for ${word}`);
    return name;
  }

  #run(typed: readonly string[], write: (text: string) => unknown): Promise<number> {
    const terminal = {
      write: (text: string) => void write(text),
      writeError: (text: string) => void write(text),
      isTty: false,
      hasColour: false,
      width: () => 200,
      height: () => 50,
    };
    const host = {
      terminal,
      version: "0.0.0",
      defaultAddress: this.#url,
      self: "./pawl",
      connect: (baseUrl: string) => createPawlClient({ baseUrl }),
      readText: async () => "",
      runTool: async () => 0,
      now: () => Date.now(),
      interrupted: new AbortController().signal,
    };
    return runProgram(host, typed);
  }
}
