// Branded ids. Only the functions here turn a plain string into an id, so two kinds of id cannot be swapped.

declare const brand: unique symbol;
type Branded<Kind extends string> = string & { readonly [brand]: Kind };

/** UUIDv7 of a run, lower case. */
export type RunId = Branded<"RunId">;
/** Id of a node, unique within its definition. */
export type NodeId = Branded<"NodeId">;
/** UUID of one immutable definition row. */
export type DefinitionId = Branded<"DefinitionId">;
/** UUIDv7 of one question to a person. */
export type ApprovalId = Branded<"ApprovalId">;
/** UUID of an executor process, the same for its whole life. */
export type ExecutorId = Branded<"ExecutorId">;

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const NAME = /^[A-Za-z0-9-][A-Za-z0-9._-]{0,127}$/;

/** True for a canonical (lower case, hyphenated) UUID. */
export const isUuid = (text: string): boolean => UUID.test(text);
/** True for a valid name of a workflow or node: 1-128 of [A-Za-z0-9._-], not starting with `.` or `_`. */
export const isName = (text: string): boolean => NAME.test(text);

/** Trusts that the caller checked `text` (`isUuid`) or read it from the store. */
export const runId = (text: string): RunId => text as RunId;
/** Trusts that the caller checked `text` (`isName`) or read it from the store. */
export const nodeId = (text: string): NodeId => text as NodeId;
/** Trusts that the caller read `text` from the store or just made it. */
export const definitionId = (text: string): DefinitionId => text as DefinitionId;
/** Trusts that the caller checked `text` (`isUuid`), read it from the store or just made it. */
export const approvalId = (text: string): ApprovalId => text as ApprovalId;
/** Trusts that the caller checked `text` (`isUuid`). */
export const executorId = (text: string): ExecutorId => text as ExecutorId;

/** The name of an attempt in logs and in the names of tasks and threads: `run-<run id>-<node id>-attempt-<n>`, with `#<n>` for an iteration. */
export const attemptName = (
  run: string,
  node: string,
  iteration: number,
  attempt: number,
): string => `run-${run}-${node}${iteration === 0 ? "" : `#${iteration}`}-attempt-${attempt}`;

/** The key of an effect in the outside world: the same for every attempt and delivery of a node execution. */
export const effectKey = (run: RunId, node: NodeId, iteration: number): string =>
  `${run}/${node}/${iteration}`;
