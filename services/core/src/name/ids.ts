// Branded ids. A plain string never becomes an id except through the functions here, so two kinds cannot be swapped.

declare const brand: unique symbol;
type Branded<Kind extends string> = string & { readonly [brand]: Kind };

/** UUIDv7 of a run, lower case. */
export type RunId = Branded<"RunId">;
/** Id of a node, unique within its definition. */
export type NodeId = Branded<"NodeId">;
/** UUID of one immutable definition row. */
export type DefinitionId = Branded<"DefinitionId">;
/** Id of a workflow, chosen by its author. */
export type WorkflowId = Branded<"WorkflowId">;
/** UUIDv7 of one question to a person. */
export type ApprovalId = Branded<"ApprovalId">;
/** UUID an executor process keeps as long as it lives. */
export type ExecutorId = Branded<"ExecutorId">;

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const NAME = /^[A-Za-z0-9-][A-Za-z0-9._-]{0,127}$/;

/** True for a canonical (lower case, hyphenated) UUID. */
export const isUuid = (text: string): boolean => UUID.test(text);
/** True for a name as workflows and nodes may have: 1-128 of [A-Za-z0-9._-], not starting with `.` or `_`. */
export const isName = (text: string): boolean => NAME.test(text);

/** Trusts that `text` was checked at the door (`isUuid`) or read from the store. */
export const runId = (text: string): RunId => text as RunId;
/** Trusts that `text` was checked at the door (`isName`) or read from the store. */
export const nodeId = (text: string): NodeId => text as NodeId;
/** Trusts that `text` was read from the store or just made. */
export const definitionId = (text: string): DefinitionId => text as DefinitionId;
/** Trusts that `text` was checked at the door (`isName`) or read from the store. */
export const workflowId = (text: string): WorkflowId => text as WorkflowId;
/** Trusts that `text` was checked at the door (`isUuid`), read from the store or just made. */
export const approvalId = (text: string): ApprovalId => text as ApprovalId;
/** Trusts that `text` was checked at the door (`isUuid`). */
export const executorId = (text: string): ExecutorId => text as ExecutorId;

/** The key an effect has in the outside world: the same for every attempt and delivery of a node execution. */
export const effectKey = (run: RunId, node: NodeId, iteration: number): string =>
  `${run}/${node}/${iteration}`;
