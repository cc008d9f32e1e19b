// `npm run conformance -- [--watch] [--group <name>] [--case <part of a name>] [--json] [-- <command that starts a program>]`
// Without a command it judges every SDK of this repository. It says which ones the machine cannot run; in CI that is a failure.

import { mustNotSkip } from "../support/toolchain.ts";
import { HANDLERS, type ProgramCommand, WATCHERS } from "./programs/sdks.ts";
import { rulesOfPage } from "./rules-of-page.ts";
import { runCases, type Verdict } from "./run-cases.ts";
import { type Column, tableOf } from "./table.ts";
import { runWatchCases } from "./watch/catalogue.ts";
import { rulesOfParity } from "./watch/rules-of-parity.ts";

const USAGE = `usage: npm run conformance -- [--watch] [--group <name>] [--case <part of a name>] [--json] [-- <command>]
  The command starts the program that test/handler-kit/PROGRAM.md describes. Without one, the SDKs of this repository are judged.
  --watch checks a client that watches runs; without it the kit checks a handler process.`;

interface Arguments {
  readonly names: string[];
  readonly groups: string[];
  readonly isJson: boolean;
  readonly isWatch: boolean;
  /** Undefined for the SDKs of this repository. */
  readonly command: readonly string[] | undefined;
}

function parse(args: readonly string[]): Arguments | undefined {
  const names: string[] = [];
  const groups: string[] = [];
  let isJson = false;
  let isWatch = false;
  for (let at = 0; at < args.length; at += 1) {
    const arg = args[at];
    const value = args[at + 1];
    if (arg === "--") {
      const command = args.slice(at + 1);
      return command.length === 0 ? undefined : { names, groups, isJson, isWatch, command };
    }
    if (arg === "--json") isJson = true;
    else if (arg === "--watch") isWatch = true;
    else if ((arg === "--case" || arg === "--group") && value !== undefined) {
      (arg === "--case" ? names : groups).push(value);
      at += 1;
    } else return undefined;
  }
  return { names, groups, isJson, isWatch, command: undefined };
}

const rules = new Map([...rulesOfPage(), ...rulesOfParity()]);

function print({ group, name, rule, ms, measured, failure }: Verdict): void {
  const mark = failure === undefined ? "ok  " : "FAIL";
  console.log(`${mark} ${group.padEnd(7)} ${rule.padEnd(3)} ${name} (${ms} ms)`);
  if (measured !== undefined) console.log(`     measured ${measured}`);
  if (failure === undefined) return;
  console.log(`     rule     ${failure.rule}: ${rules.get(failure.rule) ?? ""}`);
  console.log(`     expected ${failure.expected}`);
  console.log(`     came     ${failure.came}`);
  const words = failure.stderr.trim().split("\n").slice(-5).join("\n              ");
  if (words !== "") console.log(`     stderr   ${words}`);
}

const failedOf = (verdicts: readonly Verdict[]): number =>
  verdicts.filter(({ failure }) => failure !== undefined).length;

function judge(program: ProgramCommand, choice: Arguments): Promise<readonly Verdict[]> {
  const options = { ...program, choice, ...(choice.isJson ? {} : { onVerdict: print }) };
  return choice.isWatch ? runWatchCases(options) : runCases(options);
}

async function judgeOne(command: readonly string[], wanted: Arguments) {
  const startedAt = performance.now();
  const verdicts = await judge({ command, env: {} }, wanted);
  const failed = failedOf(verdicts);
  const passed = verdicts.length - failed;
  const seconds = ((performance.now() - startedAt) / 1_000).toFixed(1);
  if (wanted.isJson) console.log(JSON.stringify({ passed, failed, verdicts }));
  else console.log(`${passed} passed, ${failed} failed, ${seconds} s`);
  return verdicts;
}

async function judgeAll(wanted: Arguments): Promise<readonly Verdict[]> {
  const columns: Column[] = [];
  for (const [language, find] of Object.entries(wanted.isWatch ? WATCHERS : HANDLERS)) {
    const sdk = await find();
    if (!wanted.isJson) console.log(`${language}:`);
    columns.push(
      sdk.kind === "missing"
        ? { language, why: sdk.why }
        : { language, verdicts: await judge(sdk, wanted) },
    );
  }
  console.log(wanted.isJson ? JSON.stringify({ sdks: columns }) : `\n${tableOf(columns)}`);
  if (mustNotSkip() && columns.some((column) => "why" in column)) {
    console.error("CI skips nothing: every SDK must be judged");
    process.exitCode = 1;
  }
  return columns.flatMap((column) => ("why" in column ? [] : column.verdicts));
}

const wanted = parse(process.argv.slice(2));
if (wanted === undefined) {
  console.error(USAGE);
  process.exitCode = 2;
} else {
  const { command } = wanted;
  const verdicts = await (command === undefined ? judgeAll(wanted) : judgeOne(command, wanted));
  if (verdicts.length === 0) console.error("no case has that name");
  if (failedOf(verdicts) > 0 || verdicts.length === 0) process.exitCode = 1;
}
