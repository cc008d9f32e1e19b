// Parses the environment with a zod schema whose keys are the names of variables. All faults are reported at once, so that a person
// does not fix them one restart at a time. An empty variable counts as absent, because compose files pass `NAME=`.

import type { z } from "zod";

import { KNOWN_VARIABLES } from "./known.ts";

/** An environment such as `process.env`. */
export type Env = Readonly<Record<string, string | undefined>>;

/** One faulty variable and what was expected. It never holds the value, which may be a secret. */
export interface VariableFault {
  readonly variable: string;
  readonly expected: string;
}

/** Exit code of a process whose configuration is wrong (EX_CONFIG of sysexits.h). */
export const EXIT_CONFIG = 78;

/** The configuration is wrong; `faults` holds every fault. */
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
      const missing = issue.path.length > 0 && present[variable] === undefined;
      faults.push({ variable, expected: missing ? missingText(schema, variable) : issue.message });
    }
  }
  if (!parsed.success || faults.length > 0) throw new ConfigFault(faults);
  return deepFreeze(parsed.data) as DeepReadonly<z.output<Schema>>;
};

const missingText = (schema: EnvSchema, variable: string): string => {
  const description = schema.shape[variable]?.description;
  return description === undefined ? "is required" : `is required: ${description}`;
};

const unknownVariables = (env: Env, known: readonly string[]): VariableFault[] => {
  const names = new Set(known);
  const faults: VariableFault[] = [];
  for (const variable of Object.keys(env)) {
    if (!variable.startsWith(PREFIX) || names.has(variable)) continue;
    const near = nearest(variable, names);
    const hint = near === undefined ? "" : `; did you mean ${near}?`;
    faults.push({ variable, expected: `no such variable${hint}` });
  }
  return faults;
};

/** How many letters may differ for a known name to be suggested. */
const TYPO_DISTANCE = 3;

const nearest = (name: string, candidates: Iterable<string>): string | undefined => {
  let best: string | undefined;
  let bestDistance = TYPO_DISTANCE + 1;
  for (const candidate of candidates) {
    const distance = editDistance(name, candidate);
    if (distance < bestDistance) [best, bestDistance] = [candidate, distance];
  }
  return best;
};

const editDistance = (left: string, right: string): number => {
  let previous = Array.from({ length: right.length + 1 }, (_, index) => index);
  for (let row = 1; row <= left.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= right.length; column += 1) {
      const substituted =
        (previous[column - 1] ?? 0) + (left[row - 1] === right[column - 1] ? 0 : 1);
      const shifted = Math.min(previous[column] ?? 0, current[column - 1] ?? 0) + 1;
      current.push(Math.min(substituted, shifted));
    }
    previous = current;
  }
  return previous[right.length] ?? 0;
};

const deepFreeze = (value: unknown): unknown => {
  if (typeof value !== "object" || value === null) return value;
  for (const inner of Object.values(value)) deepFreeze(inner);
  return Object.freeze(value);
};
