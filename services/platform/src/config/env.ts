// Parses the environment with a zod schema whose keys are the names of variables. It reports all faults at once, so a person does not need
// a restart for each. An empty variable counts as absent, because compose files pass `NAME=`.

import { nearestName } from "@pawl/core/name/nearest";
import type { z } from "zod";

import { KNOWN_VARIABLES } from "./known.ts";

/** An environment such as `process.env`. */
export type Env = Readonly<Record<string, string | undefined>>;

/** One faulty variable and the expected form. */
export interface VariableFault {
  readonly variable: string;
  readonly expected: string;
  /** The value, of variables that hold a number, a switch or one word of a list. Any other value may be a secret. */
  readonly value?: string;
}

export const faultLine = ({ variable, expected, value }: VariableFault): string =>
  `${variable}: ${expected}${value === undefined ? "" : `, not ${JSON.stringify(value)}`}`;

/** Exit code of a process whose configuration is wrong (EX_CONFIG of sysexits.h). */
export const EXIT_CONFIG = 78;

/** The configuration is wrong. `faults` holds every fault. */
export class ConfigFault extends Error {
  override readonly name = "ConfigFault";
  readonly faults: readonly VariableFault[];

  constructor(faults: readonly VariableFault[]) {
    const lines = faults.map((fault) => `  ${faultLine(fault)}`);
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

/** A rule about several variables of a configuration. */
export interface ConfigRule<Config> {
  /** The variables that the rule compares. It is not checked if one of them has a fault of its own. */
  readonly reads: readonly (keyof Config & string)[];
  readonly faults: (config: Config) => readonly VariableFault[];
}

interface Reading<Config> {
  /** The PAWL_ names of the other services that may share the environment. */
  readonly known?: readonly string[];
  readonly rules?: readonly ConfigRule<Config>[];
}

/**
 * Reads the variables of `schema` from `env`. It ignores other variables, but an unknown PAWL_ variable is a fault, because it is
 * probably misspelt.
 * @throws ConfigFault that names every faulty variable
 */
export const parseEnv = <Schema extends EnvSchema>(
  schema: Schema,
  env: Env,
  { known = KNOWN_VARIABLES, rules = [] }: Reading<DeepReadonly<z.output<Schema>>> = {},
): DeepReadonly<z.output<Schema>> => {
  const pieces = Object.entries(schema.shape);
  const faults = unknownVariables(env, [...Object.keys(schema.shape), ...known]);
  const values: Record<string, unknown> = {};
  for (const [name, piece] of pieces) {
    const text = env[name] === "" ? undefined : env[name];
    const parsed = piece.safeParse(text);
    if (!parsed.success) faults.push(...faultsOf(name, piece, text, parsed.error));
    else if (parsed.data !== undefined) values[name] = parsed.data;
  }
  const faulty = new Set(faults.map(({ variable }) => variable));
  // A rule that reads a faulty variable is left out, so each rule finds what it reads.
  const config = deepFreeze(values) as DeepReadonly<z.output<Schema>>;
  for (const rule of rules)
    if (!rule.reads.some((name) => faulty.has(name))) faults.push(...rule.faults(config));
  if (faults.length > 0) throw new ConfigFault(faults);
  return config;
};

const faultsOf = (
  variable: string,
  piece: z.ZodType,
  text: string | undefined,
  { issues }: z.ZodError,
): readonly VariableFault[] => {
  if (text === undefined) {
    const { description } = piece;
    const expected = description === undefined ? "is required" : `is required: ${description}`;
    return [{ variable, expected }];
  }
  const value = mayShow(piece, text) ? { value: text } : {};
  return issues.map(({ message: expected }) => ({ variable, expected, ...value }));
};

/** A wrong value that looks like a number or a word. An address or a key that a user pasted into the wrong variable does not. */
const HARMLESS = /^[\w.+-]{1,16}$/;

const mayShow = (piece: z.ZodType, text: string): boolean =>
  piece.meta()?.["isPlain"] === true && HARMLESS.test(text);

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
