// Frames of Server-Sent Events.

import type { LoggedEvent } from "../watch/logged-event.ts";
import { type Form, isViewed, type ViewedEvent } from "../watch/view.ts";

/** The frames of some events. No frames mean a heartbeat. */
interface Frames {
  readonly count: number;
  readonly text: string;
}
export type FrameStream = AsyncGenerator<Frames, void, undefined>;

/** What the client sends as its cursor to continue after an event. */
type IdOf = (logged: LoggedEvent) => string;

/** The frames of a batch in its form. */
export const framesOf = (batch: readonly Form[], idOf: IdOf): Frames => ({
  count: batch.length,
  text: batch
    .map((form) => (isViewed(form) ? itemFrames(form, idOf(form.logged)) : form.frame(idOf(form))))
    .join(""),
});

/** Only the last item of an event has an `id:`. So a browser that was cut off between two of them gets all of them again. */
function itemFrames({ logged, items }: ViewedEvent, cursor: string): string {
  const { seq, runId, at } = logged.event;
  const frames = items.map(({ mode, data = logged.json }, index) => {
    const id = index === items.length - 1 ? `id: ${cursor}\n` : "";
    const head = `"eventId":${seq},"runId":"${runId}","mode":"${mode}","time":"${new Date(at).toISOString()}"`;
    return `${id}event: ${mode}\ndata: {${head},"data":${data}}\n\n`;
  });
  return frames.join("");
}
