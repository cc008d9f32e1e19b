// Taint: the labels of untrusted data. A label has a name and an origin. Where a value is made from labelled values, it has their labels.
// The rules of a workflow say which nodes may not read which labels.

import { LIMITS } from "../data/limits.ts";
import type { NodeId } from "../name/ids.ts";
import { ANY_LABEL } from "../name/taint-label.ts";

/** One label of a value. */
interface TaintMark {
  readonly label: string;
  /** The node whose output had the label first. Empty for the input of the run. */
  readonly nodeId: NodeId | "";
}

/** The labels of a value. A value without labels has no list, so it costs nothing in the log. */
export type Taint = readonly TaintMark[];

/** What an author does about labelled data: `deny` fails the node, `hold` asks a person first. */
export const TAINT_ACTIONS = ["deny", "hold"] as const;

/** One rule of a workflow: these executions may not read data with these labels. */
export interface TaintRule {
  readonly action: (typeof TAINT_ACTIONS)[number];
  readonly nodes: ReadonlySet<string>;
  readonly types: ReadonlySet<string>;
  /** Names, or `*` for every label. */
  readonly labels: ReadonlySet<string>;
  readonly message: string;
}

/** The label of a run's input, if the caller or the definition says that it is not trusted. */
export const INPUT_LABEL = "input";
export const UNTRUSTED_INPUT: Taint = [{ label: INPUT_LABEL, nodeId: "" }];
/** The label of outputs of a handler that says of itself that it brings data from outside. */
export const EXTERNAL_LABEL = "external";

type Config = Readonly<Record<string, unknown>>;

/** The label of the outputs of a type, by its config. Undefined if they are as clean as what the node reads. */
const SOURCES: Readonly<Record<string, (config: Config) => string | undefined>> = {
  http: () => "web",
  llm: () => "model",
  agent: () => "model",
  supervisor: ({ model }) => (model === undefined ? undefined : "model"),
  dataQuery: ({ untrusted }) => (untrusted === true ? "data" : undefined),
};

/** The label that outputs of this type have whatever they read. */
export const sourceLabel = (type: string, config: Config): string | undefined =>
  Object.hasOwn(SOURCES, type) ? SOURCES[type]?.(config) : undefined;

/** The labels of a value made from values with these labels. It keeps a few origins of each label, and never loses a label. */
export function joinTaint(...lists: readonly (Taint | undefined)[]): Taint | undefined {
  const given = lists.filter((list) => list !== undefined && list.length > 0);
  if (given.length <= 1) return given[0];
  const origins = new Map<string, Map<string, TaintMark>>();
  for (const list of given)
    for (const mark of list ?? []) {
      let known = origins.get(mark.label);
      if (known === undefined) origins.set(mark.label, (known = new Map()));
      if (known.size < LIMITS.taintOrigins && !known.has(mark.nodeId)) known.set(mark.nodeId, mark);
    }
  return [...origins.values()].flatMap((known) => [...known.values()]);
}

/** The marks that one of these labels names. */
export function marksOf(taint: Taint | undefined, labels: ReadonlySet<string>): Taint {
  return (taint ?? []).filter(({ label }) => labels.has(label) || labels.has(ANY_LABEL));
}

/** The marks that none of these labels names. */
export function withoutLabels(
  taint: Taint | undefined,
  labels: ReadonlySet<string>,
): Taint | undefined {
  if (taint === undefined || labels.size === 0) return taint;
  const left = taint.filter(({ label }) => !labels.has(label) && !labels.has(ANY_LABEL));
  return left.length === 0 ? undefined : left;
}

/** The names of the labels, each once. */
export const labelsOf = (taint: Taint | undefined): string[] => [
  ...new Set((taint ?? []).map(({ label }) => label)),
];

/** The same labels with one origin: another run does not know the nodes of this one. */
export const movedTo = (nodeId: TaintMark["nodeId"], taint: Taint | undefined): Taint | undefined =>
  taint === undefined ? undefined : labelsOf(taint).map((label) => ({ label, nodeId }));

/** The labels with their origins for people: `web from fetch, model from sum`. */
export const taintText = (taint: Taint): string =>
  labelsOf(taint)
    .map((label) => {
      const origins = taint.flatMap((mark) =>
        mark.label === label ? [mark.nodeId === "" ? "the input" : mark.nodeId] : [],
      );
      return `${label} from ${origins.join(" and ")}`;
    })
    .join(", ");
