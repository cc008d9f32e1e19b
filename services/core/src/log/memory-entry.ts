// One value of the memory of a run.

import type { Taint } from "../policy/taint.ts";
import type { NodeId } from "../name/ids.ts";

/** One key of the run's memory. */
export interface MemoryEntry {
  /** The value as JSON text. */
  readonly json: string;
  /** The size of `json` in UTF-8. */
  readonly bytes: number;
  /** The event that wrote it last. */
  seq: number;
  /** The node that wrote it last. Empty if the run has it from its thread. */
  readonly nodeId: NodeId | "";
  readonly taint?: Taint;
}
