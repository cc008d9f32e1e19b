// Messages as plain JSON for people and scripts. User data is decoded, statuses have their short names, and ids and times are numbers.

import {
  type DescEnum,
  type DescField,
  type DescMessage,
  type JsonValue,
  type MessageShape,
  toJson,
} from "@bufbuild/protobuf";
import { ApprovalSchema } from "@pawl/proto/pawl/v1/approval_pb";
import { AssistantSchema } from "@pawl/proto/pawl/v1/assistant_pb";
import { EffectSchema } from "@pawl/proto/pawl/v1/effect_pb";
import { RunEventSchema, type RunEvent } from "@pawl/proto/pawl/v1/event_pb";
import { ExplanationSchema, TaintTraceSchema } from "@pawl/proto/pawl/v1/explain_pb";
import { ExecutorSchema } from "@pawl/proto/pawl/v1/node_type_service_pb";
import { PauseSchema } from "@pawl/proto/pawl/v1/pause_pb";
import { ArchivedRunSchema } from "@pawl/proto/pawl/v1/archive_service_pb";
import { BulkPreviewSchema, BulkRunSchema, BulkSchema } from "@pawl/proto/pawl/v1/bulk_service_pb";
import {
  DeadLetterSchema,
  GetQueueStatsResponseSchema,
} from "@pawl/proto/pawl/v1/queue_service_pb";
import { QueuedCommandSchema } from "@pawl/proto/pawl/v1/queued_command_pb";
import { RepairPlanSchema } from "@pawl/proto/pawl/v1/repair_pb";
import { RunSchema } from "@pawl/proto/pawl/v1/run_pb";
import { ScheduleSchema } from "@pawl/proto/pawl/v1/schedule_pb";
import {
  WebhookAttemptSchema,
  WebhookDeliverySchema,
  WebhookEndpointSchema,
} from "@pawl/proto/pawl/v1/webhook_pb";
import { ThreadSchema, ThreadStateSchema } from "@pawl/proto/pawl/v1/thread_pb";
import { DailyBudgetSchema, WorkflowSchema } from "@pawl/proto/pawl/v1/workflow_pb";

type PlainObject = { [key: string]: JsonValue };

/** Fields whose 64-bit numbers stay far below 2^53; protobuf's JSON has them as text. */
const COUNTER =
  /^(eventId|reusedEventId|lastEventId|lines|startedCount|skippedCount|parentEventId|epoch|beginEpoch|commitEpoch|tokens|inputTokens|outputTokens|costMicros|nodeExecutions|cutBytes|outputLeftOutBytes|[a-z][A-Za-z]*Ms)$/;

/** One event in the envelope of the log: eventId, type, runId, timestamp, …, payload. */
export function plainEvent(event: RunEvent): PlainObject {
  const { eventId = 0, type = "", runId = "", time, ...rest } = plainOf(RunEventSchema)(event);
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
export const plainRun = plainOf(RunSchema);
/** An explanation with its reason by its short name. */
export const plainExplanation = plainOf(ExplanationSchema);
/** What the runs of a workflow reserved and used on a day. */
export const plainDailyBudget = plainOf(DailyBudgetSchema);
/** The way of labels to a value. */
export const plainTaintTrace = plainOf(TaintTraceSchema);
/** An effect with its state by its short name. */
export const plainEffect = plainOf(EffectSchema);
/** A plan of a repair with its actions by their short names. */
export const plainRepairPlan = plainOf(RepairPlanSchema);
/** A schedule with its input as a value. */
export const plainSchedule = plainOf(ScheduleSchema);
/** An assistant with its config and its metadata as values. */
export const plainAssistant = plainOf(AssistantSchema);
/** A thread with its status by its short name, and its metadata as a value. */
export const plainThread = plainOf(ThreadSchema);
/** The state of a thread with its memory and its output as values. */
export const plainThreadState = plainOf(ThreadStateSchema);
/** An approval with its details, response and schema as values. */
export const plainApproval = plainOf(ApprovalSchema);
/** A dead letter with its state by its short name. */
export const plainDeadLetter = plainOf(DeadLetterSchema);
/** A command of the workflow queue with its state by its short name, and its input and response as values. */
export const plainCommand = plainOf(QueuedCommandSchema);
/** Samples of the system. */
export const plainQueueStats = plainOf(GetQueueStatsResponseSchema);
/** A pause with its scope by its short name. */
export const plainPause = plainOf(PauseSchema);
/** An executor, or the handler process behind it. */
export const plainExecutor = plainOf(ExecutorSchema);
/** A workflow with its definition as a value. */
export const plainWorkflow = plainOf(WorkflowSchema);

/** A bulk with its action and its state by their short names. */
export const plainBulk = plainOf(BulkSchema);
/** A run in the archive. */
export const plainArchivedRun = plainOf(ArchivedRunSchema);
/** What a bulk would do. */
export const plainBulkPreview = plainOf(BulkPreviewSchema);
/** A run of a bulk with its outcome by its short name. */
export const plainBulkRun = plainOf(BulkRunSchema);
/** A receiver of webhooks. */
export const plainWebhookEndpoint = plainOf(WebhookEndpointSchema);
/** A webhook delivery with its state by its short name. */
export const plainWebhookDelivery = plainOf(WebhookDeliverySchema);
/** A call of a webhook delivery. */
export const plainWebhookAttempt = plainOf(WebhookAttemptSchema);

function plainOf<Desc extends DescMessage>(schema: Desc) {
  return (message: MessageShape<Desc>): PlainObject => {
    const value = plain(schema, toJson(schema, message));
    return typeof value === "object" && value !== null && !Array.isArray(value) ? value : {};
  };
}

/** The schema says what is an enum and what is text of a user, so no name of an enum is printed raw, and no text changes. */
function plain(schema: DescMessage, json: JsonValue): JsonValue {
  const isOwn = !schema.typeName.startsWith("google.protobuf.");
  if (!isOwn || typeof json !== "object" || json === null || Array.isArray(json)) return json;
  const fields = new Map(schema.fields.map((field) => [field.jsonName, field]));
  return Object.fromEntries(
    Object.entries(json).map(([key, value]): [string, JsonValue] => {
      const field = fields.get(key);
      if (field?.fieldKind === "scalar" && COUNTER.test(key)) return [key, Number(value)];
      // protobuf's JSON has bytes in base64. The fields named …_json hold the user's own JSON.
      if (key.endsWith("Json") && typeof value === "string")
        return [key.slice(0, -"Json".length), decode(value)];
      return [key, field === undefined ? value : plainField(field, value)];
    }),
  );
}

function plainField(field: DescField, value: JsonValue): JsonValue {
  const plainOne = (one: JsonValue): JsonValue => {
    if (field.enum !== undefined) return wordOf(field.enum, one);
    return field.message === undefined ? one : plain(field.message, one);
  };
  if (field.fieldKind === "list" && Array.isArray(value)) return value.map(plainOne);
  if (field.fieldKind !== "map" || typeof value !== "object" || value === null)
    return plainOne(value);
  return Object.fromEntries(
    Object.entries(value).map(([key, one]) => [key, plainOne(one ?? null)]),
  );
}

/** `completed` for RUN_STATUS_COMPLETED. A number that this build does not know stays a number. */
const wordOf = ({ sharedPrefix = "" }: DescEnum, name: JsonValue): JsonValue =>
  typeof name === "string" ? name.slice(sharedPrefix.length).toLowerCase() : name;

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
