// What main.ts does with its configuration before anything starts: read it, or say all that is wrong with it; print it when asked.

import { ConfigFault, EXIT_CONFIG, type Env, type EnvSchema } from "./env.ts";
import { redactValue } from "./redact.ts";

/** The part of `process` that is needed, so that tests can stand in for it. */
export interface Shell {
  readonly argv: readonly string[];
  readonly env: Env;
  readonly stdout: { write(text: string): unknown };
  readonly stderr: { write(text: string): unknown };
  exit(code: number): never;
}

/**
 * The configuration `parse` makes of the environment. A fault is printed and ends the process with 78.
 * `--check-config` ends it with 0 when all is well, `--print-config` prints the configuration first, without its secrets.
 */
export const readConfig = <Config>(parse: (env: Env) => Config, shell: Shell): Config => {
  const config = parsedOrExit(parse, shell);
  if (shell.argv.includes("--print-config")) {
    shell.stdout.write(`${printConfig(config)}\n`);
    shell.exit(0);
  }
  if (shell.argv.includes("--check-config")) shell.exit(0);
  return config;
};

const parsedOrExit = <Config>(parse: (env: Env) => Config, shell: Shell): Config => {
  try {
    return parse(shell.env);
  } catch (error) {
    if (!(error instanceof ConfigFault)) throw error;
    shell.stderr.write(`${error.message}\n`);
    return shell.exit(EXIT_CONFIG);
  }
};

/** The configuration as JSON; secrets show as ***, also inside of texts that were not declared as secrets. */
export const printConfig = (config: unknown): string => JSON.stringify(config, redactValue, 2);

/** One variable for people: what it is for and what it is when absent. */
export interface VariableLine {
  readonly name: string;
  readonly description: string;
  /** Absent when the variable is required or simply off. */
  readonly default?: string;
}

/** What a schema says of its variables; deploy/env.example is made of it. */
export const describeVariables = (schema: EnvSchema): readonly VariableLine[] =>
  Object.entries(schema.shape).map(([name, piece]) => {
    const description = piece.description ?? "";
    const absent = piece.safeParse(undefined);
    if (!absent.success || absent.data === undefined) return { name, description };
    const value = absent.data;
    const shown = typeof value === "string" ? value : JSON.stringify(value);
    return { name, description, default: shown };
  });
