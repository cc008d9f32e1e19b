// Follows a run to its end in the way that suits the reader: redrawn on a terminal, a line per event in a pipe, JSON lines for
// scripts. Ctrl-C detaches: the run continues, and the command says how to come back.

import { type Reconnect, type RunWithDefinition, plainEvent } from "@pawl/client";
import type { RunEvent } from "@pawl/proto/pawl/v1/event_pb";
import { eventLine } from "../render/event-line.ts";
import { LiveScreen } from "../render/live-screen.ts";
import { type Progress, applyEvent, createProgress } from "../render/progress-model.ts";
import { progressLines } from "../render/progress.ts";
import { type Session, printJson, printLines } from "../session.ts";
import { lookWhileQuiet } from "./waiting-look.ts";

/** Someone who is told what happens to a run. */
export interface RunView {
  event(event: RunEvent): void;
  reconnect(reconnect: Reconnect): void;
  /** What the run waits for, when it does not get on; "" once it does. */
  waiting?(reason: string): void;
  /** The stream flows, for the first time or again. */
  connected?(): void;
  /** Called once, however it ended. */
  stop(): void;
}

export type Followed =
  | ({ readonly kind: "ended" } & RunWithDefinition)
  | { readonly kind: "detached" };

/** Shows a run until it ends or the reader leaves. @throws PawlError */
export async function followRun(
  session: Session,
  runId: string,
  options: { readonly view: RunView; readonly afterEventId?: number },
): Promise<Followed> {
  const { client, interrupted: signal } = session;
  const { view, afterEventId = 0 } = options;
  const look = lookWhileQuiet(
    async () => (await client.runs.get(runId, { signal })).run.waitingReason,
    (reason) => view.waiting?.(reason),
  );
  try {
    const onReconnect = (reconnect: Reconnect) => view.reconnect(reconnect);
    const onConnect = () => view.connected?.();
    const watching = client.watch(runId, { afterEventId, signal, onReconnect, onConnect });
    for await (const event of watching) {
      look.heard();
      view.event(event);
    }
    look.stop();
    if (signal.aborted) return { kind: "detached" };
    return { kind: "ended", ...(await client.runs.get(runId, { signal })) };
  } finally {
    look.stop();
    view.stop();
  }
}

/** The view that suits the terminal; without one every event is a line, which `print` writes. */
export async function createView(
  session: Session,
  runId: string,
  print: typeof printLines = printLines,
): Promise<RunView> {
  if (session.format === "json") return jsonView(session);
  if (!session.terminal.isTty) return lineView(session, print);
  const { run, definition } = await session.client.runs.get(runId, {
    signal: session.interrupted,
  });
  const name = run.workflowId === "" ? "test run" : `${run.workflowId} v${run.workflowVersion}`;
  // Without the id, which takes half of a narrow terminal: the reader named it, or has just been given it.
  return liveView(session, createProgress({ runId, title: name, definition, self: session.self }));
}

/** Shows nothing. */
export const silentView: RunView = { event: () => {}, reconnect: () => {}, stop: () => {} };

const FRAME_MS = 100;

/** Redraws in place, ten times a second: events are coalesced, time passes visibly. */
export function liveView(session: Session, progress: Progress): RunView {
  const { terminal } = session;
  const screen = new LiveScreen(terminal);
  const draw = () =>
    screen.draw(
      progressLines(progress, {
        width: terminal.width(),
        height: terminal.height(),
        hasColour: terminal.hasColour,
        nowMs: session.now(),
      }),
    );
  draw();
  const timer = setInterval(draw, FRAME_MS);
  return {
    event: (event) => applyEvent(progress, event),
    reconnect: (reconnect) => {
      progress.connection = reconnectText(reconnect);
    },
    waiting: (reason) => {
      progress.waiting = waitingText(reason);
    },
    connected: () => {
      progress.connection = "";
    },
    stop() {
      clearInterval(timer);
      draw();
      screen.stop();
    },
  };
}

const lineView = (session: Session, print: typeof printLines): RunView => ({
  event: (event) => print(session, [eventLine(event)]),
  waiting: (reason) => {
    if (reason !== "") session.terminal.writeError(`${waitingText(reason)}\n`);
  },
  reconnect: (reconnect) => session.terminal.writeError(`${reconnectText(reconnect)}\n`),
  stop: () => {},
});

const jsonView = (session: Session): RunView => ({
  event: (event) => printJson(session, plainEvent(event)),
  waiting: (reason) => {
    if (reason !== "") session.terminal.writeError(`${waitingText(reason)}\n`);
  },
  reconnect: (reconnect) => session.terminal.writeError(`${reconnectText(reconnect)}\n`),
  stop: () => {},
});

const waitingText = (reason: string): string => (reason === "" ? "" : `waiting: ${reason}`);

const reconnectText = ({ error, retry, afterEventId }: Reconnect): string =>
  `Connection lost (${error.message}); resuming after event ${afterEventId}, try ${retry} …`;
