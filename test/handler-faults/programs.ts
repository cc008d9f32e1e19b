// The programs that the fault test can strike.
import { pythonEnvironment } from "@pawl/deploy/python.ts";
import { fileURLToPath } from "node:url";
import { sourceEnv } from "../support/python-source.ts";
import type { Program } from "./handler-process.ts";

const PYTHON_PROGRAM = fileURLToPath(new URL("handlers.py", import.meta.url));

/** The handlers in Python. */
export const pythonProgram = (python: string): Program => ({
  command: python,
  args: [PYTHON_PROGRAM],
  env: sourceEnv(),
});

/** @throws Error if this machine has no usable Python */
export async function pythonOrFail(): Promise<Program> {
  const python = await pythonEnvironment();
  if (python.kind === "missing") throw new Error(`this test needs Python: ${python.why}`);
  return pythonProgram(python.path);
}
