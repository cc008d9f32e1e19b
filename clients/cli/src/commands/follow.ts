// Follows a run to its end in the form that suits the reader: redrawn on a terminal, a line per event in a pipe, JSON lines for scripts.
// Ctrl-C detaches: the run continues, and the command prints how to follow it again.

import { plainEvent, type Reconnect, type RunWithDefinition } from "@pawl/client";
import type { RunEvent } from "@pawl/proto/pawl/v1/event_pb";
import { eventLine } from "../render/event-line.ts";
import { startFrames } from "../render/live-screen.ts";
import { applyEvent, createProgress, type Progress } from "../render/progress-model.ts";
import { progressLines } from "../render/progress.ts";
import { printJson, printLines, printNotes, type Session } from "../session.ts";

/** A form in which a run is shown. */
interface RunView {
  event(event: RunEvent): void;
  reconnect(reconnect: Reconnect): void;
  /** Shows what the run waits for while it makes no progress, and "" once it does. */
  waiting?(reason: string): void;
  /** The stream is open, for the first time or again. */
  connected?(): void;
  /** Called once, at the end. */
  stop(): void;
}

type Followed = ({ readonly kind: "ended" } & RunWithDefinition) | { readonly kind: "detached" };

/** Shows a run until it ends or the reader leaves. @throws PawlError */
export async function followRun(
  session: Session,
  runId: string,
  options: { readonly view: RunView; readonly afterEventId?: number | undefined },
): Promise<Followed> {
  const { client, interrupted: signal } = session;
  const { view, afterEventId } = options;
  const look = lookWhileQuiet(
    async () => (await client.runs.get(runId, { signal })).run.waitingReason,
    (reason) => view.waiting?.(reason),
  );
  try {
    const onReconnect = (reconnect: Reconnect) => view.reconnect(reconnect);
    const onConnect = () => view.connected?.();
    const watching = client.watch(runId, { afterEventId, signal, onReconnect, onConnect });
    for await (const event of watching) {
      look.reset();
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

/** The view that suits the terminal. Without a terminal `print` writes every event as a line. */
export async function createView(
  session: Session,
  runId: string,
  print: typeof printLines = printLines,
): Promise<RunView> {
  if (session.format === "json")
    return lineView(session, (event) => printJson(session, plainEvent(event)));
  if (!session.terminal.isTty)
    return lineView(session, (event) => print(session, [eventLine(event)]));
  const { client, interrupted: signal } = session;
  const { run, definition } = await client.runs.get(runId, { signal });
  const name = run.workflowId === "" ? "test run" : `${run.workflowId} v${run.workflowVersion}`;
  // The title leaves out the id, which takes half of a narrow terminal. The reader typed it, or has just seen it.
  return liveView(session, createProgress({ title: name, definition, self: session.self, runId }));
}

/** Shows nothing. */
export const silentView: RunView = { event: () => {}, reconnect: () => {}, stop: () => {} };

/** Redraws in place, ten times a second, with all events so far and the elapsed time. */
function liveView(session: Session, progress: Progress): RunView {
  const { terminal } = session;
  const linesOf = () =>
    progressLines(progress, {
      width: terminal.width(),
      height: terminal.height(),
      hasColour: terminal.hasColour,
      nowMs: session.now(),
    });
  const stop = startFrames((text) => terminal.write(text), linesOf);
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
    stop,
  };
}

const lineView = (session: Session, event: RunView["event"]): RunView => ({
  event,
  waiting: (reason) => {
    if (reason !== "") printNotes(session, [waitingText(reason)]);
  },
  reconnect: (reconnect) => printNotes(session, [reconnectText(reconnect)]),
  stop: () => {},
});

const waitingText = (reason: string): string => (reason === "" ? "" : `waiting: ${reason}`);

const reconnectText = ({ error, retry, afterEventId }: Reconnect): string =>
  `Connection lost (${error.message}); resuming after event ${afterEventId}, try ${retry} …`;

/** The time without an event before the first look, and between looks. */
export const QUIET_MS = 2_000;

/** Starts to poll. `show` gets the reason why the run waits, and "" once it continues. An event calls `reset`. */
export function lookWhileQuiet(ask: () => Promise<string>, show: (waitingReason: string) => void) {
  let timer: NodeJS.Timeout | undefined;
  let turn = 0;
  let shown = "";
  const update = (reason: string): void => {
    if (reason !== shown) show(reason);
    shown = reason;
  };
  const look = async (asked: number): Promise<void> => {
    // A failed poll changes nothing, because the watch itself reports a lost connection.
    const reason = await ask().catch(() => shown);
    if (asked !== turn) return;
    update(reason);
    wait();
  };
  const wait = (): void => {
    clearTimeout(timer);
    timer = setTimeout(() => void look(turn), QUIET_MS);
  };
  wait();
  return {
    reset: () => {
      turn += 1;
      update("");
      wait();
    },
    stop: () => {
      turn += 1;
      clearTimeout(timer);
    },
  };
}
