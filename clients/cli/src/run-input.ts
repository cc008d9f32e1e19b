// The input of a run from the command line: --input '{…}', --input @file or --sample, and --set key=value over it. Text without
// --set goes to the server to the letter, so that large numbers keep their digits.

import { type Json, sampleInputOf } from "@pawl/client";
import { type Host, readFileText, UsageError } from "./session.ts";

export interface InputFlags {
  readonly input?: string;
  readonly set?: readonly string[];
  readonly sample?: boolean;
}

/**
 * JSON text of the input. Undefined when none was given. `--set` applies over `--input` and over `--sample`, for which `readDefinition`
 * gets the workflow's definition. @throws UsageError
 */
export async function readRunInput(
  host: Host,
  flags: InputFlags,
  readDefinition?: () => Promise<Json | undefined>,
): Promise<string | undefined> {
  if (flags.sample === true && flags.input !== undefined)
    throw new UsageError("Give --input or --sample, not both.");
  const text =
    flags.sample === true
      ? sampleText(await readDefinition?.())
      : flags.input === undefined
        ? undefined
        : await readJsonFlag(host, "input", flags.input);
  if (flags.set === undefined || flags.set.length === 0) return text;
  const value: Json = text === undefined ? {} : JSON.parse(text);
  return JSON.stringify(applySets(value, flags.set));
}

function sampleText(definition: Json | undefined): string {
  const sample = sampleInputOf(definition);
  if (sample !== undefined) return JSON.stringify(sample);
  throw new UsageError(
    "this workflow has no sample input. Give --input '{…}', or add `examples` to contracts.input of its start node.",
  );
}

/** JSON text of a flag, or of the @FILE that it names. @throws UsageError when it is not JSON */
export async function readJsonFlag(host: Host, flag: string, given: string): Promise<string> {
  const text = given.startsWith("@") ? await readFileText(host, given.slice(1)) : given;
  try {
    JSON.parse(text);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new UsageError(
      `--${flag} is not JSON: ${why}\nGive an object like '{"name": "Ada"}', or @FILE.`,
    );
  }
  return text;
}

/** Each `a.b=value` sets a path. The value is JSON if it parses as JSON, otherwise a string. */
export function applySets(base: Json, sets: readonly string[]): Json {
  return sets.reduce((value, set) => {
    const split = set.indexOf("=");
    if (split < 1) throw new UsageError(`--set ${set}: write it as key=value`);
    return setPath(value, set.slice(0, split).split("."), valueOf(set.slice(split + 1)));
  }, base);
}

function valueOf(text: string): Json {
  try {
    const value: Json = JSON.parse(text);
    return value;
  } catch {
    return text;
  }
}

/** Sets by entries, which define properties and never call setters. So __proto__ is a key like any other. */
function setPath(
  base: Json | undefined,
  [key = "", ...rest]: readonly string[],
  value: Json,
): Json {
  const isObject = typeof base === "object" && base !== null && !Array.isArray(base);
  const entries = new Map<string, Json>(isObject ? Object.entries(base) : []);
  entries.set(key, rest.length === 0 ? value : setPath(entries.get(key), rest, value));
  return Object.fromEntries(entries);
}
