// The webhooks of a draft: the receivers of runs that begin, and the events that receivers get. A run without receivers costs a comparison.

import { isFinal } from "@pawl/core/log/event";
import { resultJson, runResult } from "@pawl/core/log/result";
import type { NewRunWebhook, PostedEvent } from "@pawl/platform/store/webhooks/webhooks";
import { uuidV7 } from "../run-id.ts";
import type { Draft } from "./draft.ts";

/** The receivers of events of runs that begin. */
export const newWebhooks = ({ ofRuns }: Draft): NewRunWebhook[] =>
  ofRuns.flatMap(({ run, start }) =>
    (start?.webhooks ?? []).map(({ events, headers, ...webhook }, place) => ({
      ...webhook,
      ...{ runId: run.state.runId, place, events: events.join(" ") },
      headers: JSON.stringify(headers),
    })),
  );

/** The events that some receiver may get, each with the record of its run. */
export function posts({
  ofRuns,
  pauses: { webhookEvents: subscribed },
  now,
}: Draft): PostedEvent[] {
  return ofRuns.flatMap(({ run: { state, workflowId }, facts }) => {
    if (state.webhookEvents.length === 0 && subscribed.size === 0) return [];
    const wanted = facts.flatMap(({ type, nodeId, iteration }, index) =>
      state.webhookEvents.includes(type) || subscribed.has(type)
        ? [{ eventType: type, nodeId, iteration, back: facts.length - 1 - index }]
        : [],
    );
    if (wanted.length === 0) return [];
    const result = resultJson(runResult(state, workflowId ?? ""));
    const { runId } = state;
    return wanted.map((event) => ({ ...event, runId, result, baseId: uuidV7(now) }));
  });
}

/** Whether a run ends. Then the draft is wrong under other receivers, and the commit proves that it knew them. */
export const endsRun = ({ ofRuns }: Draft): boolean =>
  ofRuns.some(({ run, facts }) => facts.length > 0 && isFinal(run.state.status));
