// The quickstart does what it says: its workflow is saved and run by its own commands, and prints the output that the page shows.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { runProgram } from "@pawl/cli/program";
import { createPawlClient } from "@pawl/client";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Cluster, startCluster } from "../support/cluster.ts";
import { fencesOf } from "../tidy/docs/markdown.ts";
import { commandsOf, pawlWords } from "../tidy/docs/shell.ts";
import { ROOT } from "../tidy/sources.ts";

const page = readFileSync(join(ROOT, "docs", "quickstart.md"), "utf8");
const fences = fencesOf(page);
const textOf = (language: string): string =>
  fences.find((fence) => fence.language === language)?.text ?? "";
/** The calls of `pawl` on the page, in order, without its name. */
const calls = fences
  .filter(({ language }) => language === "sh")
  .flatMap(({ text }) => commandsOf(text).flatMap((words) => [pawlWords(words) ?? []]))
  .filter((words) => words.length > 0);

let cluster: Cluster;

beforeAll(async () => {
  cluster = await startCluster({});
});
afterAll(() => cluster.stop());

/** Types a command in a folder that holds the file of the quickstart. */
async function pawl(words: readonly string[]): Promise<{ code: number; out: string }> {
  const printed = { out: "", error: "" };
  const host = {
    terminal: {
      write: (text: string) => void (printed.out += text),
      writeError: (text: string) => void (printed.error += text),
      isTty: false,
      hasColour: false,
      width: () => 80,
      height: () => 24,
    },
    version: "0.0.0",
    defaultAddress: cluster.url,
    self: "./pawl",
    connect: (baseUrl: string) => createPawlClient({ baseUrl }),
    readText: async (path: string) => {
      expect(path).toBe("welcome.yaml");
      return textOf("yaml");
    },
    now: () => Date.now(),
    interrupted: new AbortController().signal,
  };
  const code = await runProgram(host, words);
  expect(printed.error).not.toContain("warning");
  return { code, out: printed.out };
}

test("the commands of the quickstart work one after the other and print what the page shows", async () => {
  let runId = "";
  for (const words of calls) {
    // The page writes RUN where a reader puts the id.
    const typed = words.map((word) => (word === "RUN" ? runId : word));
    const { code, out } = await pawl(typed);
    expect(code, typed.join(" ")).toBe(0);
    if (typed[1] === "start") expect(JSON.parse(out)).toEqual(JSON.parse(textOf("json")));
    if (typed[1] === "list")
      runId = /\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/.exec(out)?.[0] ?? "";
  }
  expect(calls.map(([noun, verb]) => `${noun} ${verb}`)).toEqual([
    "workflow apply",
    "run start",
    "run list",
    "run get",
    "run watch",
    "run explain",
  ]);
});
