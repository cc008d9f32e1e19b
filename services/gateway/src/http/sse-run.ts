// GET /execute/workflows/:runId/events: the events of WatchRun as Server-Sent Events, with the event id as `id:`.

import { invalidField } from "@pawl/core/fault/engine-error";
import { isTerminalType } from "@pawl/core/log/event";
import { cursorOfText, runIdOf } from "@pawl/platform/wire/fields";
import type { EdgeRequest } from "../request/exchange.ts";
import { type View, viewOfQuery } from "../request/view-fields.ts";
import { projected } from "../watch/project.ts";
import { formsOf, type ViewDeps } from "../watch/view.ts";
import type { WatchRequest } from "../watch/watch-run.ts";
import { framesOf, type FrameStream } from "./sse-frames.ts";
import { cursorIn, listOf, parameterOf } from "./sse-query.ts";

type Asked = Omit<WatchRequest, "types" | "known">;
type Caller = Pick<WatchRequest, "signal" | "abandon">;

/** The stream in the form that the query names. `?view=updates`: updates of node and run status instead of the events. */
export function runFrames(
  deps: ViewDeps,
  request: EdgeRequest,
  id: string,
  caller: Caller,
): FrameStream {
  const cursor = cursorIn(request, "afterEventId");
  const afterSeq = cursor === undefined ? 0 : cursorOfText(cursor.field, cursor.text);
  const asked = { ...caller, runId: runIdOf(id), afterSeq };
  const view = viewOfQuery((name) => listOf(request, name));
  const form = parameterOf(request, "view") ?? "events";
  if (form === "updates" && view.modes.size > 0)
    throw invalidField("modes", "AMBIGUOUS", "cannot be combined with view=updates");
  if (form === "updates") return updateFrames(deps, asked, view);
  if (form !== "events") throw invalidField("view", "UNKNOWN_VIEW", "must be events or updates");
  return eventFrames(deps, asked, view);
}

async function* eventFrames(deps: ViewDeps, asked: Asked, view: View): FrameStream {
  for await (const batch of formsOf(deps, { ...asked, view }))
    yield framesOf(batch, ({ event }) => String(event.seq));
}

async function* updateFrames({ watch, reader }: ViewDeps, asked: Asked, view: View): FrameStream {
  const { types } = view;
  const watching = watch({ ...asked, types: new Set() });
  const updates = projected(watching, {
    stateBefore: reader.stateBefore,
    project: (logged, state) => {
      const { type } = logged.event;
      const isWanted = types.size === 0 || types.has(type) || isTerminalType(type);
      const text = state === undefined || !isWanted ? "" : logged.update(state);
      return text === "" ? undefined : { text, bytes: text.length };
    },
  });
  for await (const batch of updates)
    yield { count: batch.length, text: batch.map(({ text }) => text).join("") };
}
