// The process under test: started with the address of the kit, watched by its notes on standard output. A caller also gets commands on its
// standard input.

import { spawn, type ChildProcess } from "node:child_process";
import { createInterface } from "node:readline";
import { Mailbox } from "./mailbox.ts";

const NOTE = "kit: ";
const STDERR_CHARACTERS = 4_000;

const handlerNote = (line: string): string | undefined =>
  line.startsWith(NOTE) ? line.slice(NOTE.length) : undefined;

/** How the process ended. */
export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

export class Program {
  readonly #child: ChildProcess;
  readonly notes = new Mailbox<string>();
  readonly #exits = new Mailbox<Exit>();
  /** The last words on standard error, for the report of a failed case. */
  stderr = "";

  /** `noteOf` gives the text of a line that is a note. */
  constructor(
    command: readonly string[],
    env: Readonly<Record<string, string>>,
    noteOf: (line: string) => string | undefined = handlerNote,
  ) {
    const [file = "", ...args] = command;
    // A process group of its own: a command such as npm may start the program as a grandchild.
    this.#child = spawn(file, args, {
      env: { ...process.env, ...env },
      // npm starts the kit at the root of the repository; paths in the command are relative to where the user is.
      cwd: process.env["INIT_CWD"] ?? process.cwd(),
      stdio: "pipe",
      detached: true,
    });
    const { stdin, stdout, stderr } = this.#child;
    // A process that ended does not read; `close` follows.
    stdin?.on("error", () => undefined);
    if (stdout !== null)
      createInterface({ input: stdout }).on("line", (line) => {
        const note = noteOf(line);
        if (note !== undefined) this.notes.add(note);
      });
    stderr?.on("data", (chunk: Buffer) => {
      this.stderr = (this.stderr + chunk.toString()).slice(-STDERR_CHARACTERS);
    });
    this.#child.on("error", (error) => {
      this.stderr += String(error);
      this.#exits.add({ code: null, signal: null });
    });
    // Not `exit`: the last words on the pipes come after it.
    this.#child.on("close", (code, signal) => this.#exits.add({ code, signal }));
  }

  /** Writes a line to standard input. */
  tell(line: string): void {
    this.#child.stdin?.write(`${line}\n`);
  }

  /** Calls back when the process has ended. */
  onExit(callback: () => void): void {
    this.#exits.onAdd = callback;
  }

  get hasExited(): boolean {
    return this.#exits.things.length > 0;
  }

  async exit(expected: string, withinMs?: number): Promise<Exit> {
    return await this.#exits.find((exit) => exit, expected, withinMs);
  }

  async note(text: string, withinMs?: number): Promise<string> {
    return await this.notes.find(
      (note) => (note === text ? note : undefined),
      `the note "${text}" on standard output`,
      withinMs,
    );
  }

  /** Sends a signal to the process and to what it has started. */
  signal(name: NodeJS.Signals): void {
    const { pid } = this.#child;
    if (pid === undefined) return;
    try {
      process.kill(-pid, name);
    } catch {
      // The group is gone.
    }
  }

  /** Ends the process for certain. */
  async kill(): Promise<void> {
    this.signal("SIGKILL");
    if (!this.hasExited) await this.exit("an end after SIGKILL");
  }
}
