// The meaning of an event, by the event table: its status, its reason, and the event that may have caused it.

import { classOf, type Failure } from "../fault/cause.ts";
import { isSettled, isTerminalType } from "./event.ts";
import type { EventType, Fact, NodeStatus, RunStatus } from "./event.ts";
import { rowOf, typesWhere } from "./event-table.ts";

/** The status that `fact` gives its run. Undefined if it changes none. */
export function runStatusAfter({
  type,
  payload,
}: Pick<Fact, "type" | "payload">): RunStatus | undefined {
  const row = rowOf(type);
  return row?.runOf?.(payload) ?? row?.run;
}

/** The status that an event of this type gives its node execution. Undefined if it changes none. */
export const nodeStatusAfter = (type: EventType): NodeStatus | undefined => rowOf(type)?.node;

/** The types that settle a node execution. */
export const SETTLING_TYPES = typesWhere(({ node }) => node !== undefined && isSettled(node));

const settling: ReadonlySet<string> = new Set(SETTLING_TYPES);

/** True for a type that settles a node execution. */
export const isSettlingType = (type: string): boolean => settling.has(type);

interface Reason {
  /** For programs; may be empty. */
  readonly cause: string;
  /** For people; may be empty. */
  readonly message: string;
}

/** Why an event happened. Undefined for an event that needs no reason. */
export function reasonOf({ type, payload }: Pick<Fact, "type" | "payload">): Reason | undefined {
  const why = rowOf(type)?.why?.(payload);
  return why === undefined ? undefined : { cause: why[0], message: why[1] };
}

/** The same in one text: the message, or the cause if there is no message. */
export function reasonText(fact: Pick<Fact, "type" | "payload">): string | undefined {
  const reason = reasonOf(fact);
  return reason === undefined ? undefined : reason.message || reason.cause;
}

/** The failure that an event reports: its cause and its class. Undefined for an event that reports none. */
export function failureOf({ type, payload }: Pick<Fact, "type" | "payload">): Failure | undefined {
  const failure = rowOf(type)?.failure?.(payload);
  return failure && { cause: failure.cause, failureClass: classOf(failure) };
}

/** Whether an event of type `cause` may have caused one of type `type`. The checker of logs uses it. */
export function mayCause(cause: EventType, type: EventType): boolean {
  if (isTerminalType(cause)) return false;
  const causes = rowOf(type)?.causes;
  if (causes === undefined || causes.includes(cause)) return true;
  return causes.includes("settled") && isSettlingType(cause);
}

const NAMED: ReadonlyMap<string, EventType> = new Map(
  typesWhere(() => true).flatMap((type) =>
    [type, ...(rowOf(type)?.aliases ?? [])].map((name) => [plainName(name), type] as const),
  ),
);

/** `NODE_FAILED`, `node_failed` and `node:failed` all spell `node.failed`. */
function plainName(name: string): string {
  return name.toLowerCase().replaceAll(/[.:]/g, "_");
}

/** The type that a name means, in any spelling and by any alias. Undefined for an unknown name. */
export const typeNamed = (name: string): EventType | undefined => NAMED.get(plainName(name));

/** Whether `event` may be the end, or the wait, of an execution that no executor claimed. */
export const endsInline = ({ type, attempt, epoch }: Fact): boolean =>
  attempt > 0 && epoch === 0 && ENDS_INLINE.has(type);

const ENDS_INLINE: ReadonlySet<string> = new Set([
  "node.completed",
  "node.expanded",
  "node.failed",
  "node.blocked",
]);

/** Whether `event` begins an execution that an executor will run: it is queued, or a policy about labels holds it first. */
export const beginsQueued = ({ type }: Pick<Fact, "type">): boolean =>
  type === "node.queued" || type === "node.blocked";
