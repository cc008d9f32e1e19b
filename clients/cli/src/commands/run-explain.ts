// pawl run explain: why a node stands where it stands, what proves it, and what to do.

import { timestampMs } from "@bufbuild/protobuf/wkt";
import { explainReasonName, nodeStatusName, plainExplanation } from "@pawl/client";
import { ExplainReason } from "@pawl/proto/pawl/v1/explain_pb";
import { NodeStatus } from "@pawl/proto/pawl/v1/run_pb";
import { EXIT, type ExitCode } from "../exit-code.ts";
import { formatDuration } from "../render/duration.ts";
import { decideCommand } from "../render/node-rows.ts";
import { paintLine, type Span } from "../render/spans.ts";
import { statusSpan } from "../render/symbols.ts";
import { type Session, printJson, printLines } from "../session.ts";

/** How the server names the command; here it goes by what a person calls it. */
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

/** One node of a run explained. */
export async function runExplain(
  session: Session,
  runId: string,
  nodeId: string,
  flags: { readonly iteration?: number },
): Promise<ExitCode> {
  const { client, interrupted: signal, terminal } = session;
  const iteration = flags.iteration ?? 0;
  const explanation = await client.runs.explain(runId, nodeId, { iteration, signal });
  if (session.format === "json") {
    printJson(session, { runId, nodeId, iteration, ...plainExplanation(explanation) });
    return EXIT.ok;
  }
  const { reason, summary, evidence, next, sinceTime, status } = explanation;
  const since =
    sinceTime === undefined
      ? ""
      : sinceText(formatDuration(Math.max(0, session.now() - timestampMs(sinceTime))), status);
  const lines: Span[][] = [
    [
      { text: nodeId, style: "bold" },
      { text: "  " },
      statusSpan(nodeStatusName(status)),
      { text: `  ${explainReasonName(reason)}${since}`, style: "dim" },
    ],
    [{ text: summary }],
    ...evidence.map(({ eventId, type, nodeId: about }): Span[] => [
      { text: `  #${eventId}  ${type}${about === "" ? "" : `  ${about}`}`, style: "dim" },
    ]),
    [{ text: "→ " }, { text: next.replace(ANSWER, `${session.self} approval approve`) }],
    ...(reason === ExplainReason.WAITING_PERSON && !next.includes(ANSWER)
      ? [[{ text: `  ${decideCommand(session.self, runId, { nodeId, iteration })}` }]]
      : []),
  ];
  const canvas = { width: Number.MAX_SAFE_INTEGER, hasColour: terminal.hasColour };
  printLines(
    session,
    lines.map((line) => paintLine(line, canvas)),
  );
  return EXIT.ok;
}
