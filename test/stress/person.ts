// The person of a shape: decides about the node `held`, and tops up a budget that has paused the run.
import type { PawlClient } from "@pawl/client";
import type { RunEvent } from "@pawl/proto/pawl/v1/event_pb";
import { RunStatus } from "@pawl/proto/pawl/v1/run_pb";
import type { Shape } from "./shape.ts";

type Options = { readonly requestId?: string; readonly signal?: AbortSignal };

/** What the person does at an event. */
type Answer = {
  /** The node executions that it adds to the budget. */
  readonly added: number;
  readonly give: (client: PawlClient, options?: Options) => Promise<unknown>;
};

/** The answer to an event of the run with this number; undefined if the event asks no person. */
export function answerTo(
  { decision, topUp }: Shape,
  index: number,
  { runId, eventId, type, fact }: RunEvent,
): Answer | undefined {
  if (type === "node.blocked" && decision !== undefined)
    return {
      added: 0,
      give: (client, options) => client.runs.decide(runId, "held", decision(index), options),
    };
  if (topUp === undefined || fact.case !== "runStatusChanged") return undefined;
  if (fact.value.waitingFor !== "budget" || fact.value.to !== RunStatus.PAUSED) return undefined;
  return {
    added: topUp,
    // The id follows from the event, so that a repeat and the answer of another person count once.
    give: (client, options) =>
      client.runs.topUp(
        runId,
        { nodeExecutions: topUp },
        { ...options, requestId: `${runId}/${eventId}` },
      ),
  };
}
