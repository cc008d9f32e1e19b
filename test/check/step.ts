// One step of the check: a tool run to its end, its output shown only when it failed.
import { spawn } from "node:child_process";
import { ROOT } from "../tidy/sources.ts";

/** How a step ended. */
export type Verdict =
  | { readonly kind: "passed"; readonly note?: string }
  | { readonly kind: "skipped"; readonly note: string }
  | { readonly kind: "failed"; readonly output: string };

/** A named check. */
export type Step = { readonly name: string; readonly run: () => Promise<Verdict> };

/** What a program printed and how it ended. */
type Finished = { readonly code: number; readonly output: string; readonly stdout: string };

/** Runs a program from the root. */
export function runProgram(command: string, args: readonly string[]): Promise<Finished> {
  return new Promise((resolve) => {
    const child = spawn(command, args, { cwd: ROOT, stdio: ["ignore", "pipe", "pipe"] });
    let output = "";
    let stdout = "";
    child.stdout.on("data", (chunk: Buffer) => {
      stdout += chunk.toString();
      output += chunk.toString();
    });
    child.stderr.on("data", (chunk: Buffer) => (output += chunk.toString()));
    child.once("error", (error) => resolve({ code: 127, output: error.message, stdout: "" }));
    child.once("close", (code) => resolve({ code: code ?? 1, output, stdout }));
  });
}

/** A step that passes when the program exits with 0. */
export function toolStep(name: string, command: string, args: readonly string[]): Step {
  return {
    name,
    async run() {
      const { code, output } = await runProgram(command, args);
      return code === 0 ? { kind: "passed" } : { kind: "failed", output };
    },
  };
}
