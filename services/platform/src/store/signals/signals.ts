// Waits for signals: node executions that a signal ends. The tick opens and closes them in the transaction that appends their events. The
// log has the signals themselves.

import type { NodeId, RunId } from "@pawl/core/name/ids";
import { number, text, uuid } from "../../db/columns.ts";
import type { Typed } from "../../db/query.ts";

/** The execution that waits. It waits at most once. */
export const WAIT = {
  runId: uuid<RunId>(),
  nodeId: text<NodeId>(),
  iteration: number(),
};
/** A wait with a deadline, in milliseconds from now by the clock of the store. */
export const DUE = { ...WAIT, dueInMs: number() };

export type WaitKey = Typed<typeof WAIT>;
export type DueWait = Typed<typeof DUE>;

/** An execution that waits for a signal from this transaction on. Its tenant is that of its run. */
export interface NewWait extends WaitKey {
  readonly name: string;
  /** The store's clock counts it from the transaction on. Null without a limit. */
  readonly timeoutMs: number | null;
}
