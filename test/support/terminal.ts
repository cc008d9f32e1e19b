// A terminal of a person: commands typed into a shell. The shell and what it starts are one process group, as Ctrl-C expects it.
import { spawn } from "node:child_process";
import type { TestContext } from "vitest";
import { until } from "./until.ts";

type Terminal = {
  /** The exit code of the shell; a process that it left in the background may still run. */
  readonly typed: Promise<number | null>;
  /** Settles when every process of the terminal has ended. */
  readonly closed: Promise<unknown>;
  output(): string;
  /** Waits for words in the output. */
  says(words: string): Promise<void>;
  /** Sends a signal to all its processes. */
  press(signal: NodeJS.Signals): void;
};

/** Types commands into a shell that stops at the first one that fails. The end of the test ends it. */
export function openTerminal(
  { onTestFailed, onTestFinished }: TestContext,
  commands: string,
  { cwd, env }: { readonly cwd: string; readonly env: NodeJS.ProcessEnv },
): Terminal {
  const child = spawn("sh", ["-e", "-c", commands], {
    ...{ cwd, env, detached: true },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  child.stdout.on("data", (chunk: Buffer) => (output += chunk.toString()));
  child.stderr.on("data", (chunk: Buffer) => (output += chunk.toString()));
  const typed = new Promise<number | null>((resolve) => child.once("exit", resolve));
  const closed = new Promise((resolve) => child.once("close", resolve));
  const press = (signal: NodeJS.Signals): void => {
    try {
      process.kill(-(child.pid ?? 0), signal);
    } catch {
      // The group has ended.
    }
  };
  onTestFailed(() => console.error(output));
  onTestFinished(() => press("SIGKILL"));
  const says = async (words: string): Promise<void> => {
    const ended = typed.then((code) => {
      throw new Error(`the commands ended with ${code} before they printed: ${words}\n${output}`);
    });
    const said = until(() => output.includes(words), { timeoutMs: 120_000, what: words });
    await Promise.race([said, ended]);
  };
  return { typed, closed, output: () => output, says, press };
}
