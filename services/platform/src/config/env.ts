// Parses the environment with a zod schema whose keys are the names of variables. It reports all faults at once, so a person does not need
// a restart for each. An empty variable counts as absent, because compose files pass `NAME=`.

import { nearestName } from "@pawl/core/name/nearest";
import type { z } from "zod";

import { KNOWN_VARIABLES } from "./known.ts";

/** An environment such as `process.env`. */
export type Env = Readonly<Record<string, string | undefined>>;

/** One faulty variable and the expected form. It never holds the value, which may be a secret. */
export interface VariableFault {
  readonly variable: string;
  readonly expected: string;
}

/** Exit code of a process whose configuration is wrong (EX_CONFIG of sysexits.h). */
export const EXIT_CONFIG = 78;

/** The configuration is wrong. `faults` holds every fault. */
export class ConfigFault extends Error {
  override readonly name = "ConfigFault";
  readonly faults: readonly VariableFault[];

  constructor(faults: readonly VariableFault[]) {
    const lines = faults.map((fault) => `  ${fault.variable}: ${fault.expected}`);
    super(`the configuration is wrong:\n${lines.join("\n")}`);
    this.faults = faults;
  }
}

export type DeepReadonly<T> = T extends readonly (infer Item)[]
  ? readonly DeepReadonly<Item>[]
  : T extends (...args: never[]) => unknown
    ? T
    : T extends object
      ? { readonly [Key in keyof T]: DeepReadonly<T[Key]> }
      : T;

/** A schema of an environment: its keys are variables' names. */
export type EnvSchema = z.ZodObject<Record<string, z.ZodType>>;

const PREFIX = "PAWL_";

/**
 * Reads the variables of `schema` from `env`. It ignores other variables, but an unknown PAWL_ variable is a fault, because it is
 * probably misspelt. `known` holds the PAWL_ names of the other services that may share the environment.
 * @throws ConfigFault that names every faulty variable
 */
export const parseEnv = <Schema extends EnvSchema>(
  schema: Schema,
  env: Env,
  known: readonly string[] = KNOWN_VARIABLES,
): DeepReadonly<z.output<Schema>> => {
  const names = Object.keys(schema.shape);
  const present: Record<string, string> = {};
  for (const name of names) {
    const value = env[name];
    if (value !== undefined && value !== "") present[name] = value;
  }
  const faults = unknownVariables(env, [...names, ...known]);
  const parsed = schema.safeParse(present);
  if (!parsed.success) {
    for (const issue of parsed.error.issues) {
      const variable = String(issue.path[0] ?? "environment");
      const isMissing = issue.path.length > 0 && present[variable] === undefined;
      const { description } = schema.shape[variable] ?? {};
      const required = description === undefined ? "is required" : `is required: ${description}`;
      faults.push({ variable, expected: isMissing ? required : issue.message });
    }
  }
  if (!parsed.success || faults.length > 0) throw new ConfigFault(faults);
  return deepFreeze(parsed.data) as DeepReadonly<z.output<Schema>>;
};

/** How many letters may differ for a known name to be suggested. */
const TYPO_DISTANCE = 3;

const unknownVariables = (env: Env, known: readonly string[]): VariableFault[] => {
  const names = new Set(known);
  const unknown = Object.keys(env).filter((name) => name.startsWith(PREFIX) && !names.has(name));
  return unknown.map((variable) => {
    const near = nearestName(variable, names, TYPO_DISTANCE);
    const hint = near === undefined ? "" : `; did you mean ${near}?`;
    return { variable, expected: `no such variable${hint}` };
  });
};

const deepFreeze = (value: unknown): unknown => {
  if (typeof value !== "object" || value === null) return value;
  for (const inner of Object.values(value)) deepFreeze(inner);
  return Object.freeze(value);
};
