// Messages as plain JSON for people and scripts: user data decoded, statuses by their short names, ids and times as numbers.

import { type DescMessage, type JsonValue, type MessageShape, toJson } from "@bufbuild/protobuf";
import { type Approval, ApprovalSchema } from "@pawl/proto/pawl/v1/approval_pb";
import { EffectSchema, type Effect } from "@pawl/proto/pawl/v1/effect_pb";
import { RunEventSchema, type RunEvent } from "@pawl/proto/pawl/v1/event_pb";
import { ExplanationSchema, type Explanation } from "@pawl/proto/pawl/v1/explain_pb";
import { type Pause, PauseSchema } from "@pawl/proto/pawl/v1/pause_pb";
import { type DeadLetter, DeadLetterSchema } from "@pawl/proto/pawl/v1/queue_service_pb";
import { RunSchema, type Run } from "@pawl/proto/pawl/v1/run_pb";
import { ScheduleSchema, type Schedule } from "@pawl/proto/pawl/v1/schedule_pb";
import { WorkflowSchema, type Workflow } from "@pawl/proto/pawl/v1/workflow_pb";

type PlainObject = { [key: string]: JsonValue };

/** Fields whose 64-bit numbers stay far below 2^53; protobuf's JSON has them as text. */
const COUNTER =
  /^(eventId|lastEventId|startedCount|skippedCount|parentEventId|epoch|beginEpoch|commitEpoch|inputTokens|outputTokens|cutBytes|outputLeftOutBytes|[a-z][A-Za-z]*Ms)$/;
const ENUM_VALUE =
  /^(?:RUN_STATUS|NODE_STATUS|RUN_KIND|EXPLAIN_REASON|APPROVAL_STATE|DEAD_LETTER_STATE|PAUSE_SCOPE|EFFECT_STATE|SCHEDULE_STATE|MISSED_POLICY|OVERLAP_POLICY)_([A-Z_]+)$/;

/** One event in the envelope of the log: eventId, type, runId, timestamp, …, payload. */
export function plainEvent(event: RunEvent): PlainObject {
  const { eventId = 0, type = "", runId = "", time, ...rest } = plain(RunEventSchema, event);
  const { [event.fact.case ?? ""]: payload = {}, ...about } = rest;
  return {
    eventId,
    type,
    runId,
    ...(time === undefined ? {} : { timestamp: time }),
    ...about,
    payload,
  };
}

/** A run with input, output and nodes as values. */
export const plainRun = (run: Run): PlainObject => plain(RunSchema, run);

/** An explanation with its reason by its short name. */
export const plainExplanation = (explanation: Explanation): PlainObject =>
  plain(ExplanationSchema, explanation);

/** An effect with its state by its short name. */
export const plainEffect = (effect: Effect): PlainObject => plain(EffectSchema, effect);

/** A schedule with its input as a value. */
export const plainSchedule = (schedule: Schedule): PlainObject => plain(ScheduleSchema, schedule);
/** An approval with its details, response and schema as values. */
export const plainApproval = (approval: Approval): PlainObject => plain(ApprovalSchema, approval);

/** A dead letter with its state by its short name. */
export const plainDeadLetter = (letter: DeadLetter): PlainObject => plain(DeadLetterSchema, letter);

/** A pause with its scope by its short name. */
export const plainPause = (pause: Pause): PlainObject => plain(PauseSchema, pause);

/** A workflow with its definition as a value. */
export const plainWorkflow = (workflow: Workflow): PlainObject => plain(WorkflowSchema, workflow);

function plain<Desc extends DescMessage>(schema: Desc, message: MessageShape<Desc>): PlainObject {
  const value = clean(toJson(schema, message));
  return typeof value === "object" && value !== null && !Array.isArray(value) ? value : {};
}

function clean(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(clean);
  if (typeof value === "string") return ENUM_VALUE.exec(value)?.[1]?.toLowerCase() ?? value;
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, field]): [string, JsonValue] => {
      if (COUNTER.test(key)) return [key, Number(field)];
      // protobuf's JSON has bytes in base64; the fields named …_json hold the user's own JSON.
      if (key.endsWith("Json") && typeof field === "string") {
        return [key.slice(0, -"Json".length), decode(field)];
      }
      return [key, clean(field)];
    }),
  );
}

function decode(base64: string): JsonValue {
  const bytes = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
  const text = new TextDecoder().decode(bytes);
  try {
    const value: JsonValue = JSON.parse(text);
    return value;
  } catch {
    return text;
  }
}
