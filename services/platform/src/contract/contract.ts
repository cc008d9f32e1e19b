// Contracts: a JSON Schema, compiled once, and the rules that a value breaks. Executors check inputs and outputs, and the scheduler checks
// people's responses. A user wrote the schema and the check runs in this process, so its work is bounded. Every part of the schema counts
// its steps. Patterns match in linear time and count by the length of the text. Hashing finds distinct items. The rules of the definition
// have refused cyclic references.

import { compilePattern } from "@pawl/core/data/pattern";
import { LIMITS } from "@pawl/core/data/limits";
import { canonicalJson } from "@pawl/core/definition/canonical";
import { subschemas } from "@pawl/core/definition/contract-tree";
import type { JsonSchema } from "@pawl/core/definition/shape";
import { Ajv2020, type ErrorObject, type Options } from "ajv/dist/2020.js";
import { z } from "zod";

/** One broken rule. It names paths and rules, never the value. */
export interface ContractError {
  /** `input.items[0].name`. */
  readonly path: string;
  readonly message: string;
}

export type Phase = "input" | "output";
/** The name of the value in messages. */
type Root = Phase | "arguments" | "default" | "response_json" | "payload_json" | "input_json";

/** The rules that the value breaks. Empty if it keeps the contract. */
export type Contract = (value: unknown) => readonly ContractError[];

const ERRORS_MAX = 20;
const EXCERPT_LENGTH = 64;
const PATH_LENGTH = 512;
const MESSAGE_LENGTH = 200;
const STEP = "pawlStep";
/** Matching a text is faster than walking a schema, so a character counts less than a step. */
const PATTERN_UNITS_PER_STEP = 256;

class TooCostly extends Error {
  override readonly name = "TooCostly";
}

/** Compiles a contract. @throws for an invalid contract; accepted definitions hold only valid ones */
export function compileContract(schema: JsonSchema, root: Root): Contract {
  const budget = { left: 0 };
  const validate = engineOf(budget).compile(counted(schema));
  return (value) => {
    budget.left = LIMITS.contractSteps;
    try {
      if (validate(value)) return [];
      return (validate.errors ?? []).slice(0, ERRORS_MAX).map((error) => ({
        path: pathOf(error.instancePath, root),
        message: messageOf(error),
      }));
    } catch (error) {
      if (!(error instanceof TooCostly)) throw error;
      return [{ path: root, message: "takes more steps to check than are allowed" }];
    }
  };
}

/** The message of a failed node: the first broken rules, with their paths. */
export function contractMessage(phase: Phase, errors: readonly ContractError[]): string {
  const first = errors.slice(0, 3).map(({ path, message }) => `${path} ${message}`);
  const more = errors.length > 3 ? ` (and ${errors.length - 3} more)` : "";
  return `${phase}_contract_violation: ${first.join("; ")}${more}`;
}

function engineOf(budget: { left: number }): Ajv2020 {
  const spend = (steps: number): true => {
    budget.left -= steps;
    if (budget.left < 0) throw new TooCostly("a contract's budget");
    return true;
  };
  const linear = (text: string) => {
    const compiled = compilePattern(text);
    if (!compiled.ok) throw new Error(compiled.message);
    const { pattern } = compiled;
    return {
      test: (subject: string): boolean => {
        spend(Math.ceil((subject.length * pattern.size) / PATTERN_UNITS_PER_STEP));
        return pattern.test(subject);
      },
      // ajv identifies a pattern by this text. Without it, two patterns would count as the same one.
      toString: () => text,
    };
  };
  const options: Options = {
    // The definition's own rules have refused unknown and faulty keywords.
    strict: false,
    validateSchema: false,
    meta: false,
    allErrors: true,
    inlineRefs: false,
    logger: false,
    ownProperties: true,
    formats: { ...FORMATS },
    // ajv uses the second part only for code that it writes to a file. Our code is not written.
    code: { regExp: Object.assign(linear, { code: "linear" }) },
  };
  const engine = new Ajv2020(options);
  engine.removeKeyword("uniqueItems");
  engine.addKeyword({
    keyword: "uniqueItems",
    type: "array",
    schemaType: "boolean",
    error: { message: "must NOT have duplicate items" },
    validate: (isWanted: boolean, items: readonly unknown[]) =>
      !isWanted || (spend(items.length) && new Set(items.map(canonicalJson)).size === items.length),
  });
  engine.addKeyword({ keyword: STEP, schemaType: "number", validate: spend });
  return engine;
}

/** The schema with a counter in every part, and without its own $id. */
function counted(schema: JsonSchema): JsonSchema {
  const copy = structuredClone(schema);
  if (typeof copy === "boolean") return copy;
  for (const { schema: part } of subschemas(copy)) {
    // The part may be changed, because it belongs to a clone of plain JSON.
    if (typeof part === "object" && part !== null) Object.assign(part, { [STEP]: costOf(part) });
  }
  const { $id: _id, $schema: _dialect, ...rest } = copy;
  return rest;
}

/** The cost of one visit to a schema, in steps: the number of its own entries. */
const costOf = (schema: object): number =>
  Object.values(schema).reduce<number>(
    (sum, value) =>
      sum + (typeof value === "object" && value !== null ? Object.keys(value).length : 1),
    1,
  );

/** A JSON pointer in the usual path notation. */
function pathOf(pointer: string, root: Root): string {
  const steps = pointer.split("/").slice(1);
  const path = steps.reduce((text, raw) => {
    const step = raw.replaceAll("~1", "/").replaceAll("~0", "~");
    return /^\d+$/.test(step) ? `${text}[${step}]` : `${text}.${cut(step, EXCERPT_LENGTH)}`;
  }, root as string);
  return cut(path, PATH_LENGTH);
}

/** ajv's messages describe the schema. The name of an unexpected property is added. */
function messageOf({ message = "is wrong", params }: ErrorObject): string {
  const extra: unknown = params["additionalProperty"] ?? params["unevaluatedProperty"];
  const name = typeof extra === "string" ? `: ${cut(extra, EXCERPT_LENGTH)}` : "";
  return cut(message + name, MESSAGE_LENGTH);
}

const cut = (text: string, length: number): string =>
  text.length > length ? `${text.slice(0, length - 1).toWellFormed()}…` : text;

const TEXT_LENGTH_MAX = 2_048;

const SCHEMAS = {
  "date-time": z.iso.datetime({ offset: true }),
  date: z.iso.date(),
  time: z.iso.time(),
  duration: z.iso.duration(),
  email: z.email(),
  hostname: z.hostname(),
  ipv4: z.ipv4(),
  ipv6: z.ipv6(),
  uri: z.url(),
  uuid: z.guid(),
} as const;

/**
 * The formats that a contract may name. Any other format is an annotation, as in JSON Schema 2020-12. A long text never matches a format,
 * so no check is costly.
 */
const FORMATS: Readonly<Record<string, (text: string) => boolean>> = Object.fromEntries(
  Object.entries(SCHEMAS).map(([name, schema]) => [
    name,
    (text: string) => text.length <= TEXT_LENGTH_MAX && schema.safeParse(text).success,
  ]),
);
