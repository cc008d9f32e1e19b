// pawl run state and pawl run diff: the workflow state of a run, now or after an event, and what changed between two events.

import { type WorkflowState, workflowStateJson } from "@pawl/client";
import { fieldsOf, stateChanges } from "@pawl/core/log/workflow-state-diff";
import { statusSpan } from "../render/spans.ts";
import { factLines, tableLines } from "../render/table.ts";
import { canvasOf, printJson, printJsonText, printLines, type Session } from "../session.ts";

/** Wide enough for the longest field. */
const FIELD_WIDTH = 23;
/** What a field without a value shows. */
const EMPTY: ReadonlySet<string> = new Set(['""', "[]", "{}"]);

/** The state of a run. */
export async function runState(
  session: Session,
  runId: string,
  { at }: { readonly at?: number },
): Promise<void> {
  const state = await stateAt(session, runId, at);
  if (session.format === "json") return printJsonText(session, workflowStateJson(state));
  const canvas = canvasOf(session);
  const facts = [...fieldsOf(state)].filter(
    ([field, json]) => field !== "status" && !EMPTY.has(json),
  );
  printLines(session, [
    ...factLines("event_id", { text: String(state.eventId) }, canvas, FIELD_WIDTH),
    ...factLines("status", statusSpan(state.status), canvas, FIELD_WIDTH),
    ...facts.flatMap(([field, json]) =>
      (LINES.get(field)?.(state) ?? [shown(json)]).flatMap((text, line) =>
        factLines(line === 0 ? field : "", { text }, canvas, FIELD_WIDTH),
      ),
    ),
  ]);
}

/** What changed in the state of a run between two events. */
export async function runDiff(
  session: Session,
  runId: string,
  flags: { readonly from: number; readonly to?: number },
): Promise<void> {
  const from = await stateAt(session, runId, flags.from);
  const to = await stateAt(session, runId, flags.to);
  const changes = stateChanges(from, to);
  if (session.format === "json") {
    const parsed = changes.map((change) => ({
      field: change.field,
      from: change.from === undefined ? null : (JSON.parse(change.from) as unknown),
      to: change.to === undefined ? null : (JSON.parse(change.to) as unknown),
    }));
    return printJson(session, { from: from.eventId, to: to.eventId, changes: parsed });
  }
  if (changes.length === 0)
    return printLines(session, [`nothing changed from event ${from.eventId} to ${to.eventId}`]);
  const heads = ["FIELD", `AT ${from.eventId}`, `AT ${to.eventId}`];
  const rows = changes.map((change) => [
    change.field,
    shown(change.from ?? ""),
    shown(change.to ?? ""),
  ]);
  printLines(session, tableLines(heads, rows, canvasOf(session)));
}

const stateAt = (
  { client, interrupted: signal }: Session,
  runId: string,
  atEventId: number | undefined,
): Promise<WorkflowState> => client.runs.state(runId, { atEventId, signal });

/** The lines of lists for people. */
const LINES: ReadonlyMap<string, (state: WorkflowState) => readonly string[]> = new Map([
  ["constraints", ({ constraints }) => constraints],
  ["current_nodes", ({ currentNodes }) => [currentNodes.join(", ")]],
  ["visited_nodes", ({ visitedNodes }) => [visitedNodes.join(", ")]],
  ["supervisor_history", ({ supervisorHistory }) => supervisorHistory.map(decisionText)],
  ["compensation_stack", ({ compensationStack }) => compensationStack.map(undoText)],
]);

/** `lead → scholar (research): there are no notes yet, event 15` */
function decisionText(decision: WorkflowState["supervisorHistory"][number]): string {
  const { nodeId, next, route, reason, eventId } = decision;
  return `${nodeId} → ${next === "" ? "no other node" : next} (${route}): ${reason}, event ${eventId}`;
}

/** `charge/0 by http` */
const undoText = ({
  actionId,
  compensationAction: { type },
}: WorkflowState["compensationStack"][number]): string => `${actionId} by ${type}`;

/** A JSON text for people: a string without its quotes. */
function shown(json: string): string {
  if (!json.startsWith('"')) return json;
  const text: unknown = JSON.parse(json);
  return typeof text === "string" ? text : json;
}
