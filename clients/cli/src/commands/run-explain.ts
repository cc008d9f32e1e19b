// pawl run explain: why a node is in its state, the events that prove it, and the next step.

import { timestampMs } from "@bufbuild/protobuf/wkt";
import { explainReasonName, nodeStatusName, plainExplanation } from "@pawl/client";
import { ExplainReason } from "@pawl/proto/pawl/v1/explain_pb";
import { NodeStatus } from "@pawl/proto/pawl/v1/run_pb";
import { classText, formatDuration } from "../render/words.ts";
import { decideCommand } from "../render/node-rows.ts";
import { paintLine, type Span, statusSpan } from "../render/spans.ts";
import { endlessCanvas, print, type Session } from "../session.ts";

/** The command in the text of the server. The person may use another name for it. */
const ANSWER = "pawl approval approve";

const OVER: ReadonlySet<NodeStatus> = new Set([
  NodeStatus.COMPLETED,
  NodeStatus.FAILED,
  NodeStatus.TIMED_OUT,
  NodeStatus.CANCELLED,
  NodeStatus.SKIPPED,
]);

const sinceText = (time: string, status: NodeStatus): string =>
  OVER.has(status) ? `  ${time} ago` : `  for ${time}`;

/** Explains one node of a run. */
export async function runExplain(
  session: Session,
  runId: string,
  nodeId: string,
  { iteration = 0 }: { readonly iteration?: number },
): Promise<void> {
  const { client, interrupted: signal, self } = session;
  const explanation = await client.runs.explain(runId, nodeId, { iteration, signal });
  const { reason, summary, evidence, next, sinceTime, status } = explanation;
  const since =
    sinceTime === undefined
      ? ""
      : sinceText(formatDuration(Math.max(0, session.now() - timestampMs(sinceTime))), status);
  const isAsked = reason === ExplainReason.WAITING_PERSON && !next.includes(ANSWER);
  const lines: Span[][] = [
    [
      { text: nodeId, style: "bold" },
      { text: "  " },
      statusSpan(nodeStatusName(status)),
      { text: `  ${explainReasonName(reason)}${since}`, style: "dim" },
    ],
    [{ text: summary }],
    ...(explanation.cause === "" ? [] : [[{ text: `Cause: ${classText(explanation)}.` }]]),
    ...evidence.map(({ eventId, type, nodeId: about }): Span[] => [
      { text: `  #${eventId}  ${type}${about === "" ? "" : `  ${about}`}`, style: "dim" },
    ]),
    [{ text: "→ " }, { text: next.replace(ANSWER, `${self} approval approve`) }],
    ...(isAsked ? [[{ text: `  ${decideCommand(self, runId, { nodeId, iteration })}` }]] : []),
  ];
  print(session, { runId, nodeId, iteration, ...plainExplanation(explanation) }, () =>
    lines.map((line) => paintLine(line, endlessCanvas(session))),
  );
}
