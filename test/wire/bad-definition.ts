// The shape of a bad definition, and short functions to write one.

/** A definition and what is wrong with it. */
export type BadDefinition = {
  readonly row: string;
  readonly what: string;
  readonly text: string;
  /** Where: a path inside of the definition. */
  readonly path: string;
  readonly rule: string;
  /** What the call as a whole is refused with. */
  readonly reason?: "CYCLE_DETECTED" | "LIMIT_EXCEEDED";
};

const START = { id: "start", type: "start" };
/** A node or an edge as authors write it. */
export type Part = Readonly<Record<string, unknown>>;

/** A graph that begins with `start`. */
export const text = (nodes: readonly Part[], edges: readonly Part[] = []): string =>
  JSON.stringify({ nodes: [START, ...nodes], edges });
/** An edge. */
export const edge = (source: string, target: string, more: Part = {}): Part => ({
  source,
  target,
  ...more,
});
/** A node that does nothing. */
export const noop = (id: string, more: Part = {}): Part => ({ id, type: "noop", ...more });

/** A graph whose second node, behind the start, is `node`. */
export const second = (node: Part): string => text([{ id: "a", ...node }], [edge("start", "a")]);
/** The same, with a node of this type and config. */
export const withConfig = (type: string, config: Part): string => second({ type, config });

/** More than any message may repeat. */
export const LONG = "x".repeat(5_000);
