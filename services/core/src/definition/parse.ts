// Turns definition text into a Definition, or into every rule that it breaks, with positions. All definitions pass through this file, so no
// other code checks them.

import { LIMITS } from "../data/limits.ts";
import { isRecord } from "../data/path.ts";
import { withPublishedSchemas } from "./agent-tools.ts";
import { checkAuthored } from "./authored-rules.ts";
import { NO_PRICES, type PriceOf } from "../policy/price.ts";
import { checkBudgets, warnOfBudgets } from "./budget-rules.ts";
import { buildDefinition } from "./build.ts";
import { canonicalJson } from "./canonical.ts";
import { checkCompensations } from "./compensation-rules.ts";
import { checkConfigs } from "./config-rules.ts";
import { checkContracts } from "./contract-rules.ts";
import { checkGraph, outlineOf } from "./graph-rules.ts";
import { indexGraph, type Graph } from "./graph.ts";
import { checkInputs } from "./input-rules.ts";
import { checkMemory, warnOfMemory } from "./memory-rules.ts";
import type { KnownTypes } from "./known-types.ts";
import { offsetOf, type Places, positions } from "./places.ts";
import { readText, type ReadText } from "./read-text.ts";
import { definitionSchema } from "./schema.ts";
import { checkPolicies } from "./taint-rules.ts";
import type { Definition, Violation } from "./shape.ts";
import { checkTypes } from "./type-rules.ts";
import { MORE, violationList } from "./violation.ts";
import { warn } from "./warnings.ts";
import { reportIssues } from "./zod-issue.ts";

type ParsedDefinition =
  | {
      readonly ok: true;
      readonly definition: Definition;
      readonly graph: Graph;
      /** The authored text in canonical form. It is stored and digested. Parsing it again gives the same definition. */
      readonly canonicalJson: string;
      /** The definition is allowed, but contains a likely mistake. */
      readonly warnings: readonly Violation[];
    }
  | { readonly ok: false; readonly violations: readonly Violation[] };

/** Parses JSON or YAML text from an author. Never throws, for any text. */
export function parseDefinition(
  text: string,
  options: {
    /**
     * The node types that executors serve and publish. A type that no executor serves gets a warning. A value that cannot fit is a
     * violation.
     */
    readonly types?: KnownTypes | undefined;
    /** The prices of models. Without them, a cost budget that reserves no cost gets a warning. */
    readonly priceOf?: PriceOf | undefined;
  } = {},
): ParsedDefinition {
  const read = readText(text);
  if (!read.ok) return { ok: false, violations: [unreadable(text, read)] };
  const parsed = parseValue(read.value, { isAuthored: true, ...options });
  const locate = locator(text, read.places);
  return parsed.ok
    ? { ...parsed, warnings: locate(parsed.warnings) }
    : { ...parsed, violations: locate(parsed.violations) };
}

/** Parses the text of a saved definition. The rules of its time were applied when it was saved. Newer rules are not applied. */
export function parseSavedDefinition(text: string): ParsedDefinition {
  const read = readText(text);
  return read.ok
    ? parseValue(read.value, { isAuthored: false })
    : { ok: false, violations: [unreadable(text, read)] };
}

interface ParseOptions {
  readonly isAuthored: boolean;
  readonly types?: KnownTypes | undefined;
  readonly priceOf?: PriceOf | undefined;
}

function parseValue(
  raw: unknown,
  { isAuthored, types, priceOf = NO_PRICES }: ParseOptions,
): ParsedDefinition {
  const tooMany = countViolations(raw);
  if (tooMany.length > 0) return { ok: false, violations: tooMany };
  const { report, list } = violationList();
  const outline = outlineOf(raw);
  const nodeIdOf = (path: string): string => {
    const index = /^nodes\[(\d+)\]/.exec(path)?.[1];
    return (index === undefined ? undefined : outline.nodes[Number(index)]?.id) ?? "";
  };
  const shaped = definitionSchema.safeParse(raw);
  if (!shaped.success) reportIssues(shaped.error.issues, report, nodeIdOf);
  if (isRecord(raw)) {
    checkGraph(outline, report);
    checkConfigs(outline, report);
    checkInputs(outline, report);
    checkCompensations(outline, report);
    checkContracts(outline, report);
    checkPolicies(raw, outline, report);
    if (isAuthored) {
      checkAuthored(outline, report);
      checkMemory(raw, report);
    }
  }
  const warnings = violationList();
  if (shaped.success && types !== undefined && list().length === 0)
    checkTypes(raw, types.schemas, { error: report, warning: warnings.report });
  if (shaped.success && isAuthored) checkBudgets(shaped.data, report);
  const violations = list();
  if (!shaped.success || violations.length > 0) return { ok: false, violations };
  if (isAuthored) {
    warn(outline, types, warnings.report);
    warnOfMemory(raw, warnings.report);
    warnOfBudgets(shaped.data, warnings.report, priceOf);
  }
  // The version keeps the schemas that its tools had when it was saved.
  const kept = types === undefined ? raw : withPublishedSchemas(raw, types);
  const definition = buildDefinition(kept === raw ? shaped.data : definitionSchema.parse(kept));
  return {
    ok: true,
    definition,
    graph: indexGraph(definition),
    canonicalJson: canonicalJson(kept),
    warnings: warnings.list(),
  };
}

function unreadable(text: string, fault: Extract<ReadText, { ok: false }>): Violation {
  const { reason, message, offset } = fault;
  const position = offset === undefined ? {} : { position: positions(text)(offset) };
  return { path: "", reason, message, nodeId: "", ...position };
}

/** Gives each violation its place in the text. The text is scanned once, and only if there are violations. */
function locator(text: string, placesOf: () => Places) {
  return (violations: readonly Violation[]): readonly Violation[] => {
    if (violations.length === 0) return violations;
    const [places, positionOf] = [placesOf(), positions(text)];
    return violations.map((violation) => {
      const offset = violation.reason === MORE ? undefined : offsetOf(places, violation.path);
      return offset === undefined ? violation : { ...violation, position: positionOf(offset) };
    });
  };
}

/** Counts nodes and edges before any rule reads them. These counts bound the work of the other rules. */
function countViolations(raw: unknown): Violation[] {
  const over = (key: "nodes" | "edges", reason: string, max: number): Violation[] => {
    const list: unknown = isRecord(raw) ? raw[key] : undefined;
    if (!Array.isArray(list) || list.length <= max) return [];
    return [{ path: key, reason, message: `${list.length} ${key}; at most ${max}`, nodeId: "" }];
  };
  return [
    ...over("nodes", "TOO_MANY_NODES", LIMITS.definitionNodes),
    ...over("edges", "TOO_MANY_EDGES", LIMITS.definitionEdges),
  ];
}
