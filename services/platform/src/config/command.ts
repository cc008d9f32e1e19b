// Reads the configuration of a service before anything starts. It reports every fault, and prints the configuration on request.

import { ConfigFault, EXIT_CONFIG, type Env, type EnvSchema } from "./env.ts";
import { redactValue } from "./redact.ts";

/** The part of `process` that is used here, so that tests can replace it. */
export interface Shell {
  readonly argv: readonly string[];
  readonly env: Env;
  readonly stdout: { write(text: string): unknown };
  readonly stderr: { write(text: string): unknown };
  exit(code: number): never;
}

/**
 * The configuration that `parse` makes from the environment. A fault is printed and ends the process with 78. `--check-config` ends the
 * process with 0 if there is no fault. `--print-config` first prints the configuration without its secrets.
 */
export const readConfig = <Config>(parse: (env: Env) => Config, shell: Shell): Config => {
  let config: Config;
  try {
    config = parse(shell.env);
  } catch (error) {
    if (!(error instanceof ConfigFault)) throw error;
    shell.stderr.write(`${error.message}\n`);
    return shell.exit(EXIT_CONFIG);
  }
  if (shell.argv.includes("--print-config")) {
    shell.stdout.write(`${printConfig(config)}\n`);
    shell.exit(0);
  }
  if (shell.argv.includes("--check-config")) shell.exit(0);
  return config;
};

/** The configuration as JSON. Secrets appear as ***, also inside texts that are not declared as secrets. */
export const printConfig = (config: unknown): string => JSON.stringify(config, redactValue, 2);

/**
 * The variables of a schema with their purpose. A required variable, or one that is off, has no default. `npm run env` makes
 * deploy/env.example from it.
 */
export const describeVariables = (schema: EnvSchema) =>
  Object.entries(schema.shape).map(([name, piece]) => {
    const description = piece.description ?? "";
    const { data: value } = piece.safeParse(undefined);
    if (value === undefined) return { name, description };
    return {
      name,
      description,
      default: typeof value === "string" ? value : JSON.stringify(value),
    };
  });
