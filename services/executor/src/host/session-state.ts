// The states of a session, as a pure function of events and time. Nothing here waits: the session asks `dueAt` when to look again.
//
// A process may leave and be silent or cut off at the same time, so the stream's state and the leaving are two fields. The
// protocol's table shows them as one state: see `shownState`.

import { SessionState as Shown } from "@pawl/proto/pawl/handler/v1/handler_service_pb";
import { ANSWERS, type Silence } from "../work/fenced-writer.ts";

export interface SessionState {
  readonly link: "open" | "stalled" | "cut";
  /** The process leaves, or the host stops. */
  readonly isLeaving: boolean;
  /** lost: given up with its work. over: it left, and nothing remained. */
  readonly end: "lost" | "over" | undefined;
  /** When the last message arrived. */
  readonly heardAt: number;
  /** When the stream closed; meaningful while it is cut. */
  readonly cutAt: number;
}

export type SessionEvent =
  /** A message arrived. */
  | "message"
  /** The stream closed. */
  | "cut"
  /** The process resumed on another stream. */
  | "resumed"
  /** The process leaves, or the host stops. */
  | "leaving"
  /** No invocation is left. */
  | "emptied"
  /** Time passed. */
  | "time"
  /** Time passed while the host itself did not run: the silence proves nothing, and counts from now on. */
  | "slept";

export interface Patience {
  readonly silenceMs: number;
  readonly resumeMs: number;
  /** Of the most patient running handler. */
  readonly stallMs: number;
}

export const openState = (at: number): SessionState => ({
  link: "open",
  isLeaving: false,
  end: undefined,
  heardAt: at,
  cutAt: at,
});

/** The state after an event. An ended session stays as it is. */
export function nextState(
  state: SessionState,
  event: SessionEvent,
  { at, patience }: { readonly at: number; readonly patience: Patience },
): SessionState {
  if (state.end !== undefined) return state;
  switch (event) {
    case "message":
      // A message that was read after its stream closed does not bring the stream back.
      return { ...state, link: state.link === "cut" ? "cut" : "open", heardAt: at };
    case "resumed":
      return { ...state, link: "open", heardAt: at };
    case "cut":
      return state.link === "cut" ? state : { ...state, link: "cut", cutAt: at };
    case "leaving":
      return { ...state, isLeaving: true };
    case "emptied":
      return state.isLeaving ? { ...state, end: "over" } : state;
    case "slept":
      return { ...state, heardAt: at, cutAt: at };
    case "time": {
      if (at < dueAt(state, patience)) return state;
      return state.link === "open" ? { ...state, link: "stalled" } : { ...state, end: "lost" };
    }
    default:
      return event satisfies never;
  }
}

/** When time alone changes the state; never for an ended session. */
export function dueAt({ link, end, heardAt, cutAt }: SessionState, patience: Patience): number {
  if (end !== undefined) return Infinity;
  if (link === "cut") return cutAt + patience.resumeMs;
  const { silenceMs, stallMs } = patience;
  return heardAt + (link === "open" ? silenceMs : Math.max(silenceMs, stallMs));
}

/** How long the process has been silent, and how much longer the host waits for it. */
export function silenceOf(state: SessionState, patience: Patience, at: number): Silence {
  if (state.link === "open" || state.end !== undefined) return ANSWERS;
  return { silentMs: at - state.heardAt, giveUpMs: Math.max(0, dueAt(state, patience) - at) };
}

/** Whether the process may get new work. */
export const takesWork = ({ link, isLeaving, end }: SessionState): boolean =>
  link === "open" && !isLeaving && end === undefined;

const SHOWN = { open: Shown.OPEN, stalled: Shown.STALLED, cut: Shown.CUT } as const;

/** The state as the protocol names it. */
export const shownState = ({ link, isLeaving }: SessionState): Shown =>
  link === "open" && isLeaving ? Shown.DRAINING : SHOWN[link];
