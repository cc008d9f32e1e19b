// Whether every value of one JSON Schema is a value of another one: yes, no with the reasons, or unknown. It is sound: after `yes`, the
// target refuses no value of the source. It is not complete: a keyword that it does not understand gives `unknown`, never `no`.
//
// A "no" has a degree. `never`: no value that the source promises fits at this place. `sometimes`: some values fit.

import { isRecord, type PathStep } from "../data/path.ts";
import { relateArray, relateObject } from "./containers.ts";
import { relateScalar } from "./scalars.ts";
import {
  allowsAll,
  constraintsOf,
  isUnknown,
  type Place,
  resolve,
  rootPlace,
  type Schema,
  schemaOf,
} from "./schema.ts";
import {
  all,
  allAlternatives,
  any,
  atLeastUnknown,
  exactlyOne,
  misfit,
  narrowed,
  UNSURE,
  type Verdict,
  YES,
} from "./verdict.ts";

export type { Misfit, Verdict } from "./verdict.ts";

interface AssignOptions {
  /** Whether a source that allows everything promises anything (false), or counts as not described (true, the default). */
  readonly anyIsUnknown?: boolean;
  /** The budget of comparisons for the answer. When it is used up, the answer is unknown. */
  readonly steps?: Steps;
}

/** A budget of comparisons. */
interface Steps {
  left: number;
}

/** Compares two documents. */
export const assignable = (source: Schema, target: Schema, options: AssignOptions = {}): Verdict =>
  assignablePlace(rootPlace(source), rootPlace(target), options);

/** Compares two places, each with the document of its own references. */
export function assignablePlace(
  source: Place,
  target: Place,
  { anyIsUnknown = true, steps = { left: STEPS_MAX } }: AssignOptions = {},
): Verdict {
  const shared = { anyIsUnknown, steps, open: new Map<object, Set<object>>() };
  return relate(source, target, { path: [], depth: 0, shared });
}

/** Comparisons of one question, unless the caller has another budget. */
const STEPS_MAX = 20_000;
const DEPTH_MAX = 64;
/** Values of an enumeration that are compared one by one. */
const VALUES_MAX = 256;

interface Shared {
  readonly anyIsUnknown: boolean;
  /** Pairs under comparison. A recursive schema meets itself here. It fits there if it fits everywhere else. */
  readonly open: Map<object, Set<object>>;
  readonly steps: Steps;
}

/** The position of the comparison. */
interface Spot {
  readonly path: readonly PathStep[];
  readonly depth: number;
  readonly shared: Shared;
}

/** Compares the parts of two values that are at `step`. */
export type Relate = (source: Place, target: Place, step: PathStep) => Verdict;

const TYPES = ["null", "boolean", "number", "string", "array", "object"] as const;

function relate(from: Place, to: Place, spot: Spot): Verdict {
  const { shared, depth } = spot;
  if (--shared.steps.left < 0 || depth > DEPTH_MAX) return UNSURE;
  const [source, target] = [resolve(from), resolve(to)];
  if (source.schema === false || allowsAll(target)) return YES;
  if (isUnknown(source) || isUnknown(target)) return UNSURE;
  if (target.schema === false) return misfit(spot.path, "is not allowed", "never");
  if (allowsAll(source) && shared.anyIsUnknown) return UNSURE;
  const [one, other] = [source.schema, target.schema];
  if (typeof one === "boolean" || typeof other === "boolean")
    return relateApart(source, target, spot);
  if (one === other) return YES;
  const met = shared.open.get(one) ?? new Set();
  if (met.has(other)) return YES;
  shared.open.set(one, met.add(other));
  const verdict = relateApart(source, target, spot);
  met.delete(other);
  return verdict;
}

/** Splits unions: the source's first, because each of its alternatives may fit another one of the target. */
function relateApart(source: Place, target: Place, spot: Spot): Verdict {
  const alternatives = alternativesOf(source);
  if (alternatives !== undefined) {
    const verdicts = alternatives.map((each) => relate(each, target, deeper(spot)));
    return allAlternatives(verdicts);
  }
  return relateOne(source, target, spot);
}

const deeper = (spot: Spot): Spot => ({ ...spot, depth: spot.depth + 1 });

/** The alternatives of a source. Undefined for a source that is one type, or one value. */
function alternativesOf({ schema, root }: Place): Place[] | undefined {
  if (typeof schema === "boolean") return TYPES.map((type) => ({ schema: { type }, root }));
  const union = unionOf(schema);
  if (union !== undefined) return union.map((each) => ({ schema: schemaOf(each), root }));
  if (Object.hasOwn(schema, "const")) return undefined;
  const { enum: values, type } = schema;
  if (Array.isArray(values)) {
    if (values.length > VALUES_MAX) return [{ schema: { "x-unknown": true }, root }];
    return values.map((value: unknown) => ({ schema: { const: value }, root }));
  }
  if (typeof type === "string") return undefined;
  const types: readonly unknown[] = Array.isArray(type) ? type : TYPES;
  return types.map((each) => ({ schema: { ...schema, type: each }, root }));
}

/** The alternatives of a schema that is a union and nothing else. */
function unionOf(schema: Readonly<Record<string, unknown>>): readonly unknown[] | undefined {
  const used = constraintsOf(schema);
  const [key] = used;
  if (used.length !== 1 || (key !== "anyOf" && key !== "oneOf")) return undefined;
  const list = schema[key];
  return Array.isArray(list) ? list : undefined;
}

/** A source of one type or one value, against any target. */
function relateOne(source: Place, target: Place, spot: Spot): Verdict {
  const { schema: to, root } = target;
  if (typeof source.schema === "boolean" || typeof to === "boolean") return UNSURE;
  const parts = (key: "anyOf" | "oneOf" | "allOf"): Verdict[] | undefined => {
    const list = to[key];
    if (!Array.isArray(list)) return undefined;
    return list.map((each) => relate(source, { schema: schemaOf(each), root }, deeper(spot)));
  };
  const [some, one, every] = [parts("anyOf"), parts("oneOf"), parts("allOf")];
  const verdicts = [
    ...(some === undefined ? [] : [any(some, spot.path)]),
    ...(one === undefined ? [] : [exactlyOne(one, spot.path)]),
    ...(every ?? []),
  ];
  const { anyOf: _any, oneOf: _one, allOf: _all, ...rest } = to;
  if (verdicts.length === 0 || constraintsOf(rest).length > 0)
    verdicts.push(relatePlain(source.schema, { from: source.root, to: rest, root }, spot));
  return all(verdicts);
}

interface Plain {
  readonly from: Schema;
  readonly to: Readonly<Record<string, unknown>>;
  readonly root: Schema;
}

/** Keywords that are compared for a type. Others make the answer unknown. */
const UNDERSTOOD: ReadonlySet<string> = new Set([
  ...["type", "enum", "const", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"],
  ...["multipleOf", "minLength", "maxLength", "pattern", "format", "minItems", "maxItems"],
  ...["items", "prefixItems", "uniqueItems", "properties", "required", "additionalProperties"],
]);

const hasMore = (schema: Readonly<Record<string, unknown>>): boolean =>
  constraintsOf(schema).some((key) => !UNDERSTOOD.has(key));

function relatePlain(
  source: Readonly<Record<string, unknown>>,
  { from, to, root }: Plain,
  spot: Spot,
): Verdict {
  const whole = Object.hasOwn(source, "const") ? opened(source["const"]) : source;
  const inside: Relate = (one, other, step) =>
    relate(one, other, { ...deeper(spot), path: [...spot.path, step] });
  const pair = { source: whole, target: to, from, to: root };
  const verdict = all([
    relateScalar(whole, to, spot.path),
    relateObject(pair, spot.path, inside),
    relateArray(pair, spot.path, inside),
  ]);
  const known = hasMore(to) ? atLeastUnknown(verdict) : verdict;
  return hasMore(whole) ? narrowed(known) : known;
}

/** A literal object or list as the schema of its parts. Any other literal stays unchanged. */
function opened(value: unknown): Readonly<Record<string, unknown>> {
  if (Array.isArray(value)) {
    const prefixItems = value.map((item: unknown) => ({ const: item }));
    return {
      type: "array",
      prefixItems,
      items: false,
      minItems: value.length,
      maxItems: value.length,
    };
  }
  if (!isRecord(value)) return { const: value };
  const properties = Object.fromEntries(
    Object.entries(value).map(([key, item]) => [key, { const: item }]),
  );
  return { type: "object", properties, required: Object.keys(value), additionalProperties: false };
}
