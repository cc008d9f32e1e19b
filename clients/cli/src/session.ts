// What a command may touch: the gateway, the terminal, files and the time. main.ts makes it of the process, tests of memory.

import type { PawlClient } from "@pawl/client";
import type { Canvas } from "./render/spans.ts";

export interface Terminal {
  write(text: string): void;
  writeError(text: string): void;
  /** Whether a person looks at it, so that it may be redrawn. */
  readonly isTty: boolean;
  readonly hasColour: boolean;
  width(): number;
  height(): number;
}

export interface Host {
  readonly terminal: Terminal;
  /** Of this command. */
  readonly version: string;
  /** Where the gateway is unless --address says otherwise. */
  readonly defaultAddress: string;
  /** How a person calls this command, for hints. */
  readonly self: string;
  connect(address: string): PawlClient;
  /** The text of a file, resolved against the caller's folder; "-" is standard input. */
  readText(path: string): Promise<string>;
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

/** Prints lines as they are. */
export function printLines(session: Host, lines: readonly string[]): void {
  session.terminal.write(lines.map((line) => `${line}\n`).join(""));
}

/** Prints lines beside the result: on standard error. */
export function printNotes(session: Host, lines: readonly string[]): void {
  session.terminal.writeError(lines.map((line) => `${line}\n`).join(""));
}

/** How wide a table may be, and whether in colour: a pipe has no width. */
export const canvasOf = ({ terminal }: Host): Canvas => ({
  width: terminal.isTty ? terminal.width() : Number.MAX_SAFE_INTEGER,
  hasColour: terminal.hasColour,
});

/** Prints one value as one line, C1 controls escaped: a terminal must not act on what a workflow said. */
export function printJson(session: Host, value: unknown): void {
  const text = JSON.stringify(value).replace(
    /[\u007f-\u009f]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
  session.terminal.write(`${text}\n`);
}

/** Where a person sees the run. */
export const runUrl = (session: Session, runId: string): string =>
  `${session.address}/runs/${encodeURIComponent(runId)}`;
