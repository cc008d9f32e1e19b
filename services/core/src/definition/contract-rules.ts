// Checks that a contract can be enforced, and reports every fault with its path: keywords and their values, references, patterns, size
// and depth. No schema is compiled to code here: the scheduler reads definitions, and executors check values.

import { LIMITS } from "../data/limits.ts";
import { isRecord } from "../data/path.ts";
import { compilePattern } from "../data/pattern.ts";
import { exceedsUtf8 } from "../data/utf8.ts";
import { toolsIn } from "./agent-tools.ts";
import { IN_PLACE, SCHEMA_KEYWORDS, VALUE_KEYWORDS } from "./contract-keywords.ts";
import { localPointer, patternsOf, subschemas, type Subschema } from "./contract-tree.ts";
import type { Outline, OutlineNode } from "./graph-rules.ts";
import { AWAIT_SIGNAL } from "./signal-config.ts";
import { firstMessage } from "./zod-issue.ts";
import { excerpt, violationPath, type Report } from "./violation.ts";

/** Types whose output the scheduler builds, without reading values. */
const MADE_BY_ENGINE: ReadonlyMap<string, string> = new Map([
  ["map", "a map"],
  ["loop", "a loop"],
  ["subworkflow", "a subworkflow"],
  ["approval", "an approval"],
  ["agent", "an agent"],
  [AWAIT_SIGNAL, "an await_signal"],
]);
const DIALECT = /^https:\/\/json-schema\.org\/draft\/2020-12\/schema#?$/;
/** Which nodes to moderate instead, by the types whose output no executor sees. */
const MODERATED_INSTEAD: ReadonlyMap<string, string> = new Map([
  ["subworkflow", "the nodes of its own workflow"],
  ["approval", "a node behind it"],
  [AWAIT_SIGNAL, "a node behind it"],
]);
/** The schema of the input of a run, in a definition. */
export const INPUT_SCHEMA = "input_schema";
const ID_ELSEWHERE = "an $id is allowed only at the top of a contract";

/** Reports every rule that the schemas of a definition break. */
export function checkContracts(outline: Outline, report: Report): void {
  // One definition may hold thousands of contracts; only compiling a pattern is costly.
  const patterns = patternBudget();
  if (outline.inputSchema !== undefined)
    checkContract(outline.inputSchema, patterns, (at, reason, message) =>
      report(violationPath(at, INPUT_SCHEMA), reason, message),
    );
  outline.nodes.forEach(({ contracts, moderation, config, id, type = "" }, index) => {
    const made = MADE_BY_ENGINE.get(type);
    const instead = MODERATED_INSTEAD.get(type);
    if (made !== undefined && instead !== undefined && isModerated(moderation)) {
      const message = `no executor sees the output of ${made}; moderate ${instead}`;
      report(`nodes[${index}].moderation`, "MODERATION_PLACE", message, id);
    }
    if (made !== undefined && isRecord(contracts) && (contracts["output"] ?? null) !== null) {
      const message = `no executor sees the output of ${made}; hold a node behind it to it`;
      report(`nodes[${index}].contracts.output`, "CONTRACT_PLACE", message, id);
    }
    for (const { path, schema } of schemasOf({ type, config, contracts }, index))
      checkContract(schema, patterns, (at, reason, message) =>
        report(violationPath(at, path), reason, message, id),
      );
  });
}

const isModerated = (moderation: unknown): boolean =>
  moderation === "output" || moderation === "both";

interface PlacedSchema {
  readonly path: string;
  readonly schema: unknown;
}

/** The schemas of a node: of a person's answer or a signal's payload, of the arguments of its tools, and its contracts. */
export function schemasOf(
  { type = "", config, contracts }: Pick<OutlineNode, "type" | "config" | "contracts">,
  index: number,
): PlacedSchema[] {
  const asked = [
    ...answerSchemas(type, config, `nodes[${index}].config`),
    ...argumentSchemas(type, config, `nodes[${index}].config`),
  ];
  if (!isRecord(contracts)) return asked;
  const held = ["input", "output"].flatMap((phase) => {
    const schema = contracts[phase] ?? null;
    return schema === null ? [] : [{ path: `nodes[${index}].contracts.${phase}`, schema }];
  });
  return [...asked, ...held];
}

/** The schemas of the arguments that the tools of an agent take. */
function argumentSchemas(type: string, config: unknown, path: string): PlacedSchema[] {
  if (type !== "agent") return [];
  return toolsIn(config, path).flatMap(({ raw: { input_schema: schema }, path: at }) =>
    schema === undefined ? [] : [{ path: `${at}.input_schema`, schema }],
  );
}

/** The key of the config with the schema of an answer from outside, by node type. */
const ANSWER_SCHEMAS: ReadonlyMap<string, string> = new Map([
  ["approval", "response_schema"],
  [AWAIT_SIGNAL, "schema"],
]);

/** The schema of an answer from outside: of the node itself, or of its body. */
function answerSchemas(type: string, config: unknown, path: string): PlacedSchema[] {
  if (!isRecord(config)) return [];
  const key = ANSWER_SCHEMAS.get(type);
  if (key !== undefined) {
    const schema = config[key];
    return schema === undefined ? [] : [{ path: `${path}.${key}`, schema }];
  }
  const { body } = config;
  if ((type !== "map" && type !== "loop") || !isRecord(body)) return [];
  const inner = body["type"];
  if (typeof inner !== "string" || !ANSWER_SCHEMAS.has(inner)) return [];
  return answerSchemas(inner, body["config"], `${path}.body.config`);
}

type Fault = (steps: readonly (string | number)[], reason: string, message: string) => void;

/**
 * The first fault of a schema that a handler published. Keywords of other vocabularies are annotations there, and its patterns are in the
 * language of the handler: the handler runs them, and no service does.
 */
export function publishedFault(root: unknown): string | undefined {
  let first: string | undefined;
  checkContract(
    root,
    () => undefined,
    (at, reason, message) => {
      if (reason !== "UNKNOWN_KEY") first ??= `${violationPath(at, "schema")}: ${message}`;
    },
  );
  return first;
}

function checkContract(root: unknown, patterns: PatternCheck, fault: Fault): void {
  if (exceedsUtf8(JSON.stringify(root), LIMITS.contractBytes))
    return fault([], "TOO_LARGE", `a contract is at most ${LIMITS.contractBytes} bytes`);
  const all = subschemas(root);
  const indexOf = new Map(all.map(({ pointer }, index) => [pointer, index]));
  const targets = all.map((each) => checkSchema(each, indexOf, patterns, fault));
  const circle = firstCircle(all, targets);
  if (circle !== undefined)
    fault(all[circle]?.steps ?? [], "CONTRACT_REF", "this reference leads back to itself");
}

/** Checks one schema without its children; returns the index of the schema that its `$ref` names. */
function checkSchema(
  { steps, schema, parent }: Subschema,
  indexOf: ReadonlyMap<string, number>,
  patterns: PatternCheck,
  fault: Fault,
): number | undefined {
  if (typeof schema === "boolean") return undefined;
  if (!isRecord(schema)) {
    fault(steps, "CONTRACT_SCHEMA", "a schema is an object, true or false");
    return undefined;
  }
  if (steps.length > LIMITS.contractDepth) {
    fault(steps, "CONTRACT_TOO_DEEP", `schemas nest at most ${LIMITS.contractDepth} deep`);
    return undefined;
  }
  for (const [keyword, value] of Object.entries(schema)) {
    const at = [...steps, keyword];
    const wanted = Object.hasOwn(VALUE_KEYWORDS, keyword) ? VALUE_KEYWORDS[keyword] : undefined;
    const kind = SCHEMA_KEYWORDS.get(keyword);
    if (wanted !== undefined) {
      const parsed = wanted.safeParse(value);
      if (!parsed.success) fault(at, "CONTRACT_SCHEMA", firstMessage(parsed.error.issues));
    } else if (kind === "list" ? !isFullList(value) : kind === "map" && !isRecord(value))
      fault(at, "CONTRACT_SCHEMA", kind === "list" ? "is a list of schemas" : "is an object");
    else if (kind === undefined && !keyword.startsWith("x-"))
      fault(at, "UNKNOWN_KEY", `JSON Schema 2020-12 has no keyword ${excerpt(keyword)} here`);
  }
  checkPatterns(schema, steps, patterns, fault);
  const dialect = schema["$schema"];
  if (typeof dialect === "string" && !DIALECT.test(dialect))
    fault([...steps, "$schema"], "CONTRACT_SCHEMA", "contracts are JSON Schema 2020-12");
  if (parent >= 0 && schema["$id"] !== undefined)
    fault([...steps, "$id"], "CONTRACT_REF", ID_ELSEWHERE);
  return checkRef(schema["$ref"], steps, indexOf, fault);
}

function checkRef(
  ref: unknown,
  steps: readonly (string | number)[],
  indexOf: ReadonlyMap<string, number>,
  fault: Fault,
): number | undefined {
  if (typeof ref !== "string") return undefined;
  const pointer = localPointer(ref);
  const target = pointer === undefined ? undefined : indexOf.get(pointer);
  if (target === undefined) {
    const what = pointer === undefined ? "leaves the schema; only #/… is followed" : "names none";
    fault([...steps, "$ref"], "CONTRACT_REF", `${excerpt(ref)} ${what}`);
  }
  return target;
}

function checkPatterns(
  schema: Readonly<Record<string, unknown>>,
  steps: readonly (string | number)[],
  patterns: PatternCheck,
  fault: Fault,
): void {
  for (const { at, pattern } of patternsOf(schema)) {
    const why = patterns(pattern);
    if (why !== undefined) fault([...steps, ...at], "CONTRACT_PATTERN", why);
  }
}

type PatternCheck = (text: string) => string | undefined;

function patternBudget(): PatternCheck {
  const known = new Map<string, string | undefined>();
  return (text) => {
    if (known.has(text)) return known.get(text);
    if (known.size >= LIMITS.contractPatterns)
      return `a definition has at most ${LIMITS.contractPatterns} different patterns`;
    const compiled = compilePattern(text);
    const why = compiled.ok ? undefined : compiled.message;
    known.set(text, why);
    return why;
  };
}

/** A schema that reaches itself without going deeper into the value: checking a value would never end. */
function firstCircle(
  all: readonly Subschema[],
  targets: readonly (number | undefined)[],
): number | undefined {
  const next: number[][] = all.map((_, index) => {
    const target = targets[index];
    return target === undefined ? [] : [target];
  });
  all.forEach(({ keyword, parent }, index) => {
    if (IN_PLACE.has(keyword)) next[parent]?.push(index);
  });
  const state = all.map((): "new" | "open" | "done" => "new");
  const visit = (index: number): number | undefined => {
    if (state[index] === "open") return index;
    if (state[index] === "done") return undefined;
    state[index] = "open";
    for (const target of next[index] ?? []) {
      const found = visit(target);
      if (found !== undefined) return found;
    }
    state[index] = "done";
    return undefined;
  };
  for (let index = 0; index < all.length; index++) {
    const found = visit(index);
    if (found !== undefined) return found;
  }
  return undefined;
}

const isFullList = (value: unknown): boolean => Array.isArray(value) && value.length > 0;
