// Actions in the shape of the protocols: `{case, value}` of a oneof. Both protocols have the same fields, so executors, schedulers and
// handler processes share this conversion. This room knows no protobuf; the compiler compares the shapes where they are used.

import type { Action, ActionOf, ActionType } from "./kinds.ts";

/** update_memory is the case updateMemory. */
type CaseOf<T extends string> = T extends `${infer Head}_${infer Tail}`
  ? `${Head}${Capitalize<CaseOf<Tail>>}`
  : T;

/** Numbers that are uint64 on the wire. */
type WireValue<V> = { readonly [K in keyof V]: K extends "deadlineMs" ? bigint : V[K] };

/** What is sent of an action. */
type ActionShape = {
  [T in ActionType]: {
    readonly case: CaseOf<T>;
    readonly value: WireValue<Omit<ActionOf<T>, "type">>;
  };
}[ActionType];

/** What is received of an action: a newer sender may use a case that this build does not know. */
interface ReceivedAction {
  readonly action: { readonly case?: string | undefined; readonly value?: unknown };
}

/** The action as a message. */
export function toShape({ type, ...value }: Action): { readonly action: ActionShape } {
  const wire = "deadlineMs" in value ? { ...value, deadlineMs: BigInt(value.deadlineMs) } : value;
  const name = type.replace(/_(.)/g, (_, letter: string) => letter.toUpperCase());
  // The name follows from the type, and so does the value.
  return { action: { case: name, value: wire } as ActionShape };
}

/** The message as an action that nothing has checked yet: `parseActions` does. */
export function fromShape({ action }: ReceivedAction): Readonly<Record<string, unknown>> {
  const { case: name = "", value } = action;
  if (name === "unknown") return { type: value };
  const type = name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  const fields = typeof value === "object" && value !== null ? { ...value } : {};
  const { deadlineMs } = fields as { readonly deadlineMs?: bigint };
  return {
    ...fields,
    ...(deadlineMs === undefined ? {} : { deadlineMs: Number(deadlineMs) }),
    type,
  };
}
