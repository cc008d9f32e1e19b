// Turns one event of the log into the items of a stream with modes. An item depends only on its event, on the type of its execution and, in
// the mode values, on the state after the event. So a stream may start at any cursor and change its modes at any event. The user's JSON is
// embedded as text.

import { CONTEXT_OMITTED, runContextJson } from "@pawl/core/log/context";
import { isSettled, isTerminalType, type RunEvent, type StopMode } from "@pawl/core/log/event";
import { nodeStatusAfter, reasonText, runStatusAfter } from "@pawl/core/log/meaning";
import type { RunState } from "@pawl/core/log/state";
import { workflowState } from "@pawl/core/log/workflow-state";
import { workflowStateJson } from "@pawl/core/log/workflow-state-json";
import { StreamMode as WireStreamMode } from "@pawl/proto/pawl/v1/event_service_pb";
import { namesOf } from "./enum.ts";

const modes = namesOf(WireStreamMode);
export type StreamMode = keyof typeof modes.values;

/** The modes by name, as SSE and the command line write them. */
export const STREAM_MODES = Object.keys(modes.values) as readonly StreamMode[];
export const toWireStreamMode = (mode: StreamMode): WireStreamMode => modes.values[mode];
export const fromWireStreamMode: (mode: number) => StreamMode | undefined = modes.nameOf;

/** An event in one mode. */
export interface StreamItem {
  readonly mode: StreamMode;
  /** One line of JSON: an object. Undefined in the mode debug, which shows the event itself. */
  readonly data?: string;
}

interface ItemContext {
  readonly workflowId: string;
  readonly modes: ReadonlySet<StreamMode>;
  /** Whether the text of the event's execution is that of a model. */
  readonly isModelText: () => boolean;
  /** The state and context of the run after the event. */
  readonly values: () => string;
}

/** The items of an event, in the order of a stream. The terminal event always has the control item `done`. */
export function itemsOf(event: RunEvent, context: ItemContext): readonly StreamItem[] {
  const items: StreamItem[] = [];
  const add = (mode: StreamMode, dataOf: () => string | undefined): void => {
    if (!context.modes.has(mode)) return;
    const data = dataOf();
    if (data !== undefined) items.push({ mode, data });
  };
  add("metadata", () => metadataOf(event, context.workflowId));
  add("control", () => controlOf(event));
  add("messages", () => (context.isModelText() ? messageOf(event) : undefined));
  add("updates", () => updateOf(event));
  if (context.modes.has("debug")) items.push({ mode: "debug" });
  add("values", () => (isStep(event) ? context.values() : undefined));
  if (isTerminalType(event.type)) items.push({ mode: "control", data: doneOf(event) });
  return items;
}

/** A context that is larger than this is left out, so that all items of an event fit into one message. */
const CONTEXT_CHARACTERS = 1024 * 1024;

/** The mode values: the whole state and context of a run. */
export function valuesJson(state: RunState, workflowId: string): string {
  const context = runContextJson(state);
  const shown = context.length > CONTEXT_CHARACTERS ? CONTEXT_OMITTED : context;
  return `{"state":${workflowStateJson(workflowState(state, { workflowId }))},"context":${shown}}`;
}

/** Whether the run has taken a step: a status of the run, a settled execution, or a write of the memory or the metadata. */
function isStep(event: RunEvent): boolean {
  if (runStatusAfter(event) !== undefined) return true;
  const status = nodeStatusAfter(event.type);
  if (status !== undefined && isSettled(status)) return true;
  return event.type === "memory.updated" || event.type === "run.metadata.set";
}

function metadataOf(event: RunEvent, workflowId: string): string | undefined {
  const { runId, nodeId, iteration } = event;
  if (event.type === "run.started") {
    const { kind, workflowVersion, definitionDigest, thread, assistant, repair } = event.payload;
    return JSON.stringify({
      ...{ runId, workflowId, attempt: 1, kind, workflowVersion, definitionDigest },
      ...{
        threadId: thread?.threadId,
        assistantId: assistant?.assistantId,
        repairOf: repair?.runId,
      },
    });
  }
  if (event.type === "run.recovered") {
    const { reason, lostDeliveries } = event.payload;
    return JSON.stringify({ runId, nodeId, iteration, attempt: lostDeliveries + 1, reason });
  }
  if (event.type !== "run.metadata.set") return undefined;
  return `{"runId":"${runId}","metadata":${event.value ?? "{}"}}`;
}

function controlOf(event: RunEvent): string | undefined {
  if (event.type === "run.cancelled") {
    const { reason, stop, compensation } = event.payload;
    // The compensation began with the cancel.
    return compensation === undefined ? signalJson(stop ?? "cancel", reason) : undefined;
  }
  if (event.type !== "run.status.changed") return undefined;
  const { from, to, ending, who, reason = "" } = event.payload;
  if (ending?.end === "cancelled") return signalJson(ending.stop ?? "cancel", ending.reason);
  if (to === "paused") return signalJson("pause", reason, who);
  return from === "paused" ? signalJson("resume", reason, who) : undefined;
}

const signalJson = (
  signal: "pause" | "resume" | "cancel" | StopMode,
  reason: string,
  by?: string,
): string => JSON.stringify({ signal, reason, by });

const doneOf = (event: RunEvent): string =>
  JSON.stringify({ signal: "done", status: runStatusAfter(event), error: reasonText(event) });

function messageOf(event: RunEvent): string | undefined {
  if (event.type !== "node.stream.delta") return undefined;
  const { nodeId, iteration, attempt, epoch } = event;
  const { deltaIndex: index, text, media } = event.payload;
  return JSON.stringify({ nodeId, iteration, attempt, epoch, index, text, media });
}

function updateOf(event: RunEvent): string | undefined {
  const { type, nodeId, iteration, attempt, value = "null" } = event;
  const place = JSON.stringify({ nodeId, iteration, attempt }).slice(0, -1);
  if (type === "memory.updated") return `${place},"memory":${value}}`;
  const ofItsRun = runStatusAfter(event);
  const status = ofItsRun ?? nodeStatusAfter(type);
  if (status === undefined) return undefined;
  const error = reasonText(event);
  const head = ofItsRun === undefined ? `${place},` : "{";
  const output = status === "completed" ? `,"output":${value}` : "";
  const why = error === undefined ? "" : `,"error":${JSON.stringify(error)}`;
  return `${head}"status":"${status}"${output}${why}}`;
}
