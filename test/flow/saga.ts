// Nodes that call a sink, and calls that undo them.
import { nodeStatusName } from "@pawl/client";
import { call, type NodeText } from "./graph.ts";
import type { Sink } from "./sink.ts";
import type { Story } from "./story.ts";

const TWICE = { attempts: 2, backoff_ms: 1, jitter: false };

/** A node that calls the sink, and a call that undoes it. */
export const effectOn =
  (sink: Sink) =>
  (name: string, undo = `undo-${name}`): NodeText =>
    call(sink.url(name), {
      compensation: {
        type: "http",
        config: {
          url: sink.url(undo),
          method: "POST",
          idempotency_key_header: "Idempotency-Key",
          body: { was: "{{ ctx.output.status }}", order: "{{ ctx.input.order }}" },
        },
        retry: TWICE,
      },
    });

/** The statuses of the compensations, by node and the iteration that they undo. */
export const undosOf = ({ run }: Pick<Story, "run">) =>
  Object.fromEntries(
    (run.compensation?.executions ?? []).map(({ nodeId, undoes, status }) => [
      `${nodeId}#${undoes}`,
      nodeStatusName(status),
    ]),
  );
