// Shows the events of a watch in another form: it sees every event in order, keeps the state of the run if the form needs it, and leaves
// events out. The state is folded once, from the cursor on. So a stream costs one step of the fold for each event, wherever it starts.
//
// A form may leave out everything for a long time. Then the stream has heartbeats of its own, because the watch below has none while events
// come.

import type { RunEvent } from "@pawl/core/log/event";
import { apply } from "@pawl/core/log/fold";
import type { RunState } from "@pawl/core/log/state";
import { MESSAGE_BYTES, MESSAGE_EVENTS } from "./held-events.ts";
import type { LoggedEvent } from "./logged-event.ts";
import { WATCH_DEFAULTS, type WatchStream } from "./watch-run.ts";

/** An event in its form, and about its size on the wire. */
interface Projected {
  readonly bytes: number;
}

interface Projection<Form extends Projected> {
  /** The state of the run before an event. Only for forms that need it. */
  readonly stateBefore?: ((event: RunEvent) => Promise<RunState>) | undefined;
  /** The form of an event; undefined leaves it out. `state` is the state after the event. */
  readonly project: (logged: LoggedEvent, state: RunState | undefined) => Form | undefined;
  readonly heartbeatMs?: number;
}

/** Ends and fails as `watching` does. An empty batch is a heartbeat. */
export async function* projected<Form extends Projected>(
  watching: WatchStream,
  { stateBefore, project, heartbeatMs = WATCH_DEFAULTS.heartbeatMs }: Projection<Form>,
): AsyncGenerator<readonly Form[], void, undefined> {
  let state: RunState | undefined;
  let sentAt = Number.NEGATIVE_INFINITY;
  for await (const batch of watching) {
    const [first] = batch;
    if (first !== undefined) state ??= await stateBefore?.(first.event);
    let forms: Form[] = [];
    let bytes = 0;
    for (const logged of batch) {
      if (state !== undefined) apply(state, logged.event);
      const form = project(logged, state);
      if (form === undefined) continue;
      if (
        forms.length >= MESSAGE_EVENTS ||
        (forms.length > 0 && bytes + form.bytes > MESSAGE_BYTES)
      ) {
        yield forms;
        forms = [];
        bytes = 0;
      }
      forms.push(form);
      bytes += form.bytes;
    }
    const isDue = performance.now() - sentAt >= heartbeatMs;
    if (forms.length === 0 && batch.length > 0 && !isDue) continue;
    yield forms;
    sentAt = performance.now();
  }
}
