// pawl run taint: why a node, or a key of the memory, has labels: the events from their origins to it.

import { PawlError, plainTaintTrace, type TaintOf } from "@pawl/client";
import type { TaintSource, TaintStep } from "@pawl/proto/pawl/v1/explain_pb";
import type { TaintLabel } from "@pawl/proto/pawl/v1/run_pb";
import type { Command } from "commander";
import type { Verb } from "../grammar.ts";
import { factLines } from "../render/table.ts";
import { canvasOf, print, type Session } from "../session.ts";

/** Adds the verb. */
export const taintVerb = (run: Command, verb: Verb): Command =>
  verb(run, "taint <run> <node-or-key>", TRACES, runTaint).option(
    "--key",
    "the name is a key of the memory, also if a node has the same name",
  );

const TRACES = "Show from where the labels of a node, or of a key of the memory, come";

interface TaintFlags {
  readonly iteration?: number;
  readonly key?: boolean;
}

/** Prints the way of the labels. A name that is no node may be a key. */
async function runTaint(
  session: Session,
  runId: string,
  name: string,
  { iteration = 0, key = false }: TaintFlags,
): Promise<void> {
  const { client, interrupted: signal } = session;
  const ask = (of: TaintOf) => client.runs.explainTaint(runId, of, { signal });
  const byKey = () => ask({ memoryKey: name });
  const trace = await (key
    ? byKey()
    : ask({ nodeId: name, iteration }).catch((error: unknown) => {
        if (!(error instanceof PawlError) || error.reason !== "NODE_NOT_FOUND" || iteration > 0)
          throw error;
        return byKey().catch(() => Promise.reject(error));
      }));
  const canvas = canvasOf(session);
  const fact = (head: string, text: string): readonly string[] => factLines(head, { text }, canvas);
  print(session, { runId, name, ...plainTaintTrace(trace) }, () => [
    ...fact(
      "labels",
      trace.labels.length === 0 ? `${name} has no labels` : labelsText(trace.labels),
    ),
    ...(trace.truncated ? fact("", "earlier events are left out") : []),
    ...trace.steps.flatMap((step) => [
      ...fact(`#${step.eventId}`, stepText(step)),
      ...step.sources.map(sourceText).flatMap((text) => fact("", text)),
      ...(step.reason === "" ? [] : fact("", `reason: ${step.reason}`)),
    ]),
  ]);
}

const labelsText = (labels: readonly TaintLabel[]): string =>
  labels
    .map(({ label, nodeId }) => `${label} from ${nodeId === "" ? "the input" : nodeId}`)
    .join(", ");

/** `node.completed  sum  web + model`: the labels, those that begin here, and those that were dropped. */
function stepText({ type, nodeId, iteration, labels, added, dropped, runId }: TaintStep): string {
  const kept = labels.filter((label) => !added.includes(label));
  const marks = [
    kept.join(", "),
    added.length === 0 ? "" : `+ ${added.join(", ")}`,
    dropped.length === 0 ? "" : `- ${dropped.join(", ")}`,
    runId === "" ? "" : `by run ${runId}`,
  ];
  const place = iteration === 0 ? nodeId : `${nodeId}#${iteration}`;
  return [type, place, ...marks].filter((part) => part !== "").join("  ");
}

const sourceText = ({ from, name, eventId, labels }: TaintSource): string => {
  const what = name === "" ? from : `${from} ${name}`;
  return `after ${what} (#${eventId})${labels.length === 0 ? "" : `: ${labels.join(", ")}`}`;
};
