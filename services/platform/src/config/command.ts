// Reads the configuration of a service before anything starts. It reports every fault at once. Two flags check the configuration or print
// it, and end the process. They connect to nothing.

import { parseArgs } from "node:util";
import { ConfigFault, EXIT_CONFIG, type Env, type EnvSchema, type VariableFault } from "./env.ts";
import { redactValue } from "./redact.ts";

/** The part of `process` that is used here, so that tests can replace it. */
export interface Shell {
  readonly argv: readonly string[];
  readonly env: Env;
  readonly stdout: { write(text: string): unknown };
  readonly stderr: { write(text: string): unknown };
  exit(code: number): never;
}

/** What a service reads from its environment. */
interface ConfigReader<Config> {
  readonly service: string;
  readonly schema: EnvSchema;
  /** @throws ConfigFault */
  readonly parse: (env: Env) => Config;
  /** Other readers of the environment. Their faults are reported together with those of `parse`. @throws ConfigFault */
  readonly also?: (env: Env) => void;
}

/** Exit code of a check that found faults. A start with the same faults ends with EXIT_CONFIG. */
const EXIT_FAULTS = 1;
/** Exit code of a process with an unknown flag (EX_USAGE of sysexits.h). */
const EXIT_USAGE = 64;

const FLAG = { type: "boolean", default: false } as const;
const FLAGS = { "check-config": FLAG, "print-config": FLAG, json: FLAG };

/**
 * The configuration from the environment. Faults are printed and end the process. `--check-config` ends the process with 0 or 1.
 * `--print-config` prints the configuration without its secrets. `--json` is for programs that read the answer.
 */
export const readConfig = <Config>(reader: ConfigReader<Config>, shell: Shell): Config => {
  const { service } = reader;
  const flags = readFlags(shell);
  const isAsked = flags["check-config"] || flags["print-config"];
  const read = parseAll(reader, shell.env);
  if (!read.ok) {
    const { faults } = read;
    if (isAsked && flags.json) shell.stdout.write(`${JSON.stringify({ service, faults })}\n`);
    else shell.stderr.write(`${service}: ${new ConfigFault(faults).message}\n`);
    return shell.exit(isAsked ? EXIT_FAULTS : EXIT_CONFIG);
  }
  if (!isAsked) return read.config;
  const variables = configRows(reader.schema, read.config, shell.env);
  const setCount = variables.filter(({ source }) => source === "env").length;
  if (flags.json) {
    const answer = { service, faults: [], ...(flags["print-config"] ? { variables } : {}) };
    shell.stdout.write(`${JSON.stringify(answer)}\n`);
  } else if (flags["print-config"]) shell.stdout.write(`${configTable(variables).join("\n")}\n`);
  else
    shell.stdout.write(
      `${service}: the configuration is right; ${variables.length} variables, ${setCount} of them set\n`,
    );
  return shell.exit(0);
};

const readFlags = (shell: Shell) => {
  try {
    return parseArgs({ args: shell.argv.slice(2), options: FLAGS }).values;
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    shell.stderr.write(`${why}\nusage: [--check-config | --print-config] [--json]\n`);
    return shell.exit(EXIT_USAGE);
  }
};

type Parsed<Config> =
  | { readonly ok: true; readonly config: Config }
  | { readonly ok: false; readonly faults: readonly VariableFault[] };

const parseAll = <Config>(reader: ConfigReader<Config>, env: Env): Parsed<Config> => {
  const faults: VariableFault[] = [];
  const gather = <Value>(work: () => Value): Value | undefined => {
    try {
      return work();
    } catch (error) {
      if (!(error instanceof ConfigFault)) throw error;
      faults.push(...error.faults);
      return undefined;
    }
  };
  const config = gather(() => reader.parse(env));
  gather(() => reader.also?.(env));
  return config === undefined || faults.length > 0 ? { ok: false, faults } : { ok: true, config };
};

/** One variable of an effective configuration. A variable without a value has null. */
export interface ConfigRow {
  readonly name: string;
  readonly value: unknown;
  readonly source: string;
}

/** Every variable with its value and where the value is from. Secrets appear as ***, also inside texts that are not declared as secrets. */
export const configRows = (schema: EnvSchema, config: unknown, env: Env): readonly ConfigRow[] => {
  const text = JSON.stringify(config, redactValue);
  // The text was made one line above.
  const shown = JSON.parse(text) as Readonly<Record<string, unknown>>;
  return Object.keys(schema.shape).map((name) => ({
    name,
    value: shown[name] ?? null,
    source: (env[name] ?? "") === "" ? "default" : "env",
  }));
};

/** The rows as a table. Values may be long, so they come last. */
export const configTable = (rows: readonly ConfigRow[]): readonly string[] => {
  const widthOf = (texts: readonly string[]): number =>
    Math.max(...texts.map(({ length }) => length));
  const [first, second] = [
    widthOf(rows.map(({ name }) => name)),
    widthOf(rows.map(({ source }) => source)),
  ];
  return rows.map(
    ({ name, value, source }) =>
      `${name.padEnd(first)}  ${source.padEnd(second)}  ${valueText(value)}`,
  );
};

const valueText = (value: unknown): string => {
  if (value === null || value === "") return "-";
  return typeof value === "string" ? value : JSON.stringify(value);
};

/**
 * The variables of a schema with their purpose. A required variable, or one that is off, has no default. `npm run env` makes
 * deploy/env.example from it.
 */
export const describeVariables = (schema: EnvSchema) =>
  Object.entries(schema.shape).map(([name, piece]) => {
    const description = piece.description ?? "";
    const { data: value } = piece.safeParse(undefined);
    if (value === undefined) return { name, description };
    const json = JSON.stringify(value);
    const shown: unknown = JSON.parse(json);
    return { name, description, default: typeof shown === "string" ? shown : json };
  });
