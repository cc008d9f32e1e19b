// Splits the lines of a shell example into simple commands and their words, as sh would, as far as the documents need it.

/** The simple commands of a script: lines, also continued ones, cut at `|`, `&&`, `;` and redirections; comments left out. */
export function commandsOf(script: string): readonly (readonly string[])[] {
  const commands: string[][] = [];
  for (const line of script.replace(/\\\n\s*/g, " ").split("\n")) {
    commands.push([]);
    for (const token of line.matchAll(TOKEN)) {
      const text = token[0];
      if (/^\s*#/.test(text)) break;
      if (/^[|&;<>]/.test(text)) commands.push([]);
      else commands.at(-1)?.push(unquoted(text));
    }
  }
  return commands.filter((words) => words.length > 0);
}

/** A comment, an operator, or a word with its quoted parts. */
const TOKEN = /(?<=^|\s)#.*$|[|&;<>]+|(?:'[^']*'|"(?:[^"\\]|\\.)*"|\\.|[^\s|&;<>'"\\])+/g;

const unquoted = (word: string): string =>
  word.replace(/'([^']*)'|"((?:[^"\\]|\\.)*)"|\\(.)/g, (_, single, double, escaped): string => {
    const parts: readonly (string | undefined)[] = [single, double, escaped];
    return parts.find((part) => part !== undefined) ?? "";
  });

/** The words behind `pawl` of a command that calls it in any of its ways; undefined for another command. */
export function pawlWords(words: readonly string[]): readonly string[] | undefined {
  const [first = ""] = words;
  if (/^(\.\/)?pawl$/.test(first)) return words.slice(1);
  const isNpm = first === "npm" && words[1] === "run" && words.includes("pawl");
  return isNpm ? words.slice(words.indexOf("--") + 1) : undefined;
}
