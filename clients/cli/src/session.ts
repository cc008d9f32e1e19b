// Everything that a command may use: the gateway, the terminal, files and the time. main.ts makes it from the process, tests from memory.

import type { PawlClient } from "@pawl/client";
import { type Canvas, paintLine } from "./render/spans.ts";
import { type Cell, tableLines } from "./render/table.ts";

interface Terminal {
  write(text: string): void;
  writeError(text: string): void;
  /** Resolves when the reader of the output has room for more. Absent if the output takes everything at once. */
  drain?(): Promise<void>;
  /** Whether a person reads the output. Then it may be redrawn. */
  readonly isTty: boolean;
  readonly hasColour: boolean;
  width(): number;
  height(): number;
}

export interface Host {
  readonly terminal: Terminal;
  /** The version of this command. */
  readonly version: string;
  /** The address of the gateway without --address. */
  readonly defaultAddress: string;
  /** The command by which a person calls the command line, for hints. */
  readonly self: string;
  connect(address: string): PawlClient;
  /** The text of a file, resolved against the caller's folder; "-" is standard input. */
  readText(path: string): Promise<string>;
  /** Runs a program of `deploy/` in this terminal, such as `dev`, and returns its exit code. */
  runTool(name: string, args: readonly string[]): Promise<number>;
  now(): number;
  /** Aborted by Ctrl-C. */
  readonly interrupted: AbortSignal;
}

export type Format = "table" | "json";

export interface Session extends Host {
  readonly client: PawlClient;
  readonly address: string;
  readonly format: Format;
}

export function printLines(session: Host, lines: readonly string[]): void {
  session.terminal.write(lines.map((line) => `${line}\n`).join(""));
}

/** Prints lines that are not the result, on standard error. */
export function printNotes(session: Host, lines: readonly string[]): void {
  session.terminal.writeError(lines.map((line) => `${line}\n`).join(""));
}

/** The canvas of a table: a pipe has no width. */
export const canvasOf = ({ terminal }: Host): Canvas => ({
  width: terminal.isTty ? terminal.width() : Number.MAX_SAFE_INTEGER,
  hasColour: terminal.hasColour,
});

/** A canvas on which no line is cut. */
export const endlessCanvas = ({ terminal }: Host): Canvas => ({
  width: Number.MAX_SAFE_INTEGER,
  hasColour: terminal.hasColour,
});

/** Prints one value as one line, with C1 controls escaped: a terminal must not act on the text of a workflow. */
export function printJson(session: Host, value: unknown): void {
  printJsonText(session, JSON.stringify(value));
}

/** Prints JSON text in one line, to the letter except for control characters. */
export function printJsonText(session: Host, json: string): void {
  const text = json.replace(
    /[\u007f-\u009f]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
  session.terminal.write(`${text}\n`);
}

/** Prints a value for scripts, or lines for people. */
export function print(session: Session, value: unknown, lines: () => readonly string[]): void {
  if (session.format === "json") printJson(session, value);
  else printLines(session, lines());
}

/** Prints JSON text or a value on several lines. */
export function printPretty(session: Session, value: unknown): void {
  const lines = JSON.stringify(value, undefined, 2).split("\n");
  const canvas = endlessCanvas(session);
  printLines(
    session,
    lines.map((text) => paintLine([{ text }], canvas)),
  );
}

interface Listing<Item> {
  readonly items: readonly Item[];
  /** The whole answer, for scripts. */
  readonly json: unknown;
  /** The text instead of an empty table. */
  readonly none: string;
  readonly heads: readonly string[];
  readonly rowOf: (item: Item) => readonly Cell[];
  /** The command that lists the next page, and the token of that page. */
  readonly next?: readonly [command: string, pageToken: string];
}

/** Prints a list: as JSON, or as a table with the command for the next page. */
export function printList<Item>(session: Session, listing: Listing<Item>): void {
  const { items, json, none, heads, rowOf, next: [command, pageToken] = ["", ""] } = listing;
  print(session, json, () =>
    items.length === 0
      ? [none]
      : [
          ...tableLines(heads, items.map(rowOf), canvasOf(session)),
          ...(pageToken === "" ? [] : [`More: ${command} --page-token ${pageToken}`]),
        ],
  );
}

/** The page of a run in the console. */
export const runUrl = (session: Session, runId: string): string =>
  `${session.address}/runs/${encodeURIComponent(runId)}`;

/**
 * The text of a file, or of standard input for "-". It removes the byte order mark that some editors write, because the gateway refuses it.
 */
export const readFileText = async (host: Pick<Host, "readText">, path: string): Promise<string> =>
  (await host.readText(path)).replace(/^\ufeff/, "");

/** A mistake in the call of the command. Nothing was sent. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

export const EXIT = {
  ok: 0,
  /** The run did not complete, or the definition breaks rules. */
  failed: 1,
  usage: 2,
  /** The gateway refused or failed, or cannot be reached. */
  server: 3,
  /** Ctrl-C while the command waited for the end of a run. */
  interrupted: 130,
} as const;

/** The exit code of a command, or of a tool that the command ran. */
export type ExitCode = number;
