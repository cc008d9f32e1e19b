// The parts of the grammar that the nouns share: how a verb is declared, and the flags that several verbs take.

import { type Command, InvalidArgumentError } from "commander";
import type { ExitCode, Session } from "./session.ts";

/** The work of a verb. Positional values come first, flags after them. No exit code means 0. */
export type Action = (session: Session, ...values: never[]) => Promise<ExitCode | void>;

/** Declares a verb of a noun. Flags are added to the command that it returns. */
export type Verb = (noun: Command, name: string, description: string, action: Action) => Command;

/** The declared value of `--request-id`, for every mutation that takes it. */
export const requestIdFlag = (command: Command): Command =>
  command.option(
    "--request-id <id>",
    "idempotency key: a repeat under the same id changes nothing",
  );

export const limitFlag = (command: Command): Command =>
  command.option("--limit <number>", "how many at most", wholeNumber);

export const tokenFlag = (command: Command): Command =>
  command.option("--page-token <token>", "the next page");

/** The flags of a list that comes in pages. */
export const pageFlags = (command: Command): Command => tokenFlag(limitFlag(command));

export interface PageFlags {
  readonly limit?: number;
  readonly pageToken?: string;
}

export const fileFlag = (command: Command): Command =>
  command.requiredOption("-f, --file <path>", "the definition, JSON or YAML; - for standard input");

/** The flags of a pause or a resume. */
export const pauseFlags = (command: Command): Command =>
  command
    .option("--by <name>", "your name; shown to people")
    .option("--reason <text>", "why; shown to people");

export interface PauseFlags {
  readonly by?: string;
  readonly reason?: string;
}

/** Gathers a flag that may be repeated. */
export const collect = (value: string, before: readonly string[] = []): readonly string[] => [
  ...before,
  value,
];

/** Parses a whole number that is at least `min`. */
export const atLeast =
  (min: number) =>
  (text: string): number => {
    const value = wholeNumber(text);
    if (value < min) throw new InvalidArgumentError(`It must be at least ${min}.`);
    return value;
  };

export function wholeNumber(text: string): number {
  const value = Number(text);
  if (text.trim() === "" || !Number.isSafeInteger(value)) {
    throw new InvalidArgumentError("It must be a whole number.");
  }
  return value;
}
