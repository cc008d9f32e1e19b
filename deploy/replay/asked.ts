// What a handler asks of the engine beside its output, on record and in a replay. The log has what the scheduler made of the actions: writes
// of the memory, the next node, the delay and the labels. Actions that need the state of the run are not compared; a line names each.
import type { Result } from "@pawl/proto/pawl/handler/v1/handler_service_pb";
import { type Invocation, jsonTextOf } from "./recorded.ts";

export interface Asked {
  /** The values that are written to the memory, by key. */
  readonly memory: Readonly<Record<string, unknown>>;
  /** The node that runs next; empty for none. */
  readonly goto: string;
  readonly queueDelayMs: number;
  /** On record the labels of the output, in a replay those that the handler adds. */
  readonly taint: readonly string[];
  /** Actions that a replay cannot compare. */
  readonly notCompared: readonly string[];
  /** Keys of the memory whose value such an action decides. */
  readonly openKeys: readonly string[];
  /** The output of the node is the answer of a person, or the output of another run. */
  readonly isOutputReplaced: boolean;
}

const NOTHING_OPEN = { notCompared: [], openKeys: [], isOutputReplaced: false } as const;

/** What the recorded invocation asked for. */
export const askedOnRecord = (recorded: Invocation): Asked => ({
  ...NOTHING_OPEN,
  memory: objectOf(jsonTextOf(recorded.memoryWritesJson)),
  goto: recorded.gotoNode,
  queueDelayMs: Number(recorded.queueDelayMs),
  taint: recorded.outputTaint,
});

/** What a replay asks for. */
export function askedNow({ actions, queueDelayMs, taint }: Result): Asked {
  const memory: Record<string, unknown> = {};
  const [notCompared, openKeys]: [string[], string[]] = [[], []];
  let goto = "";
  let isOutputReplaced = false;
  for (const { action } of actions) {
    switch (action.case) {
      case "updateMemory":
        Object.assign(memory, objectOf(action.value.valuesJson));
        break;
      case "gotoNode":
        goto = action.value.node;
        break;
      case "handoff":
        goto = action.value.node;
        isOutputReplaced ||= action.value.workflow !== "";
        if (action.value.workflow !== "") notCompared.push("handoff");
        break;
      case "mergeParallelResults":
        openKeys.push(action.value.into);
        notCompared.push("merge_parallel_results");
        break;
      case "requestHumanInput":
        isOutputReplaced = true;
        notCompared.push("request_human_input");
        break;
      case "setStatus":
        notCompared.push("set_status");
        break;
      case "resumeFromHuman":
        notCompared.push("resume_from_human");
        break;
      case "unknown":
        notCompared.push(action.value);
        break;
      case undefined:
        break;
      default:
        action satisfies never;
    }
  }
  const delay = Number(queueDelayMs);
  return { memory, goto, queueDelayMs: delay, taint, notCompared, openKeys, isOutputReplaced };
}

/** A JSON object of the record, or of a process that checked its own values. */
const objectOf = (json: string): Readonly<Record<string, unknown>> =>
  json === "" ? {} : (JSON.parse(json) as Readonly<Record<string, unknown>>);
