// Tags: one for every status transition, with the metadata its kind has (S1.57, S1.58). A reading of the log, never a second
// truth; the view execution_tags says the same in SQL, and a test holds the two together.

import type { EventType, LoggedFact } from "./event.ts";

export interface ExecutionTag {
  readonly tag: string;
  readonly metadata: Readonly<Record<string, unknown>>;
}

/** The tag of an event; undefined for one that changes no status (partial output, log lines, metadata). */
export function tagOf(event: LoggedFact): ExecutionTag | undefined {
  const metadata = metadataOf(event);
  return metadata === undefined ? undefined : { tag: tagName(event.type), metadata };
}

const tagName = (type: EventType): string =>
  type === "node.timed_out" ? "timed_out" : type.replaceAll(".", "_");

function metadataOf(event: LoggedFact): ExecutionTag["metadata"] | undefined {
  const { attempt } = event;
  switch (event.type) {
    case "node.queued":
      return { attempt };
    case "node.started":
      return { attempt, wave: event.payload.wave ?? 0 };
    case "node.expanded":
      return { width: event.payload.width };
    case "node.retried":
      return { attempt, cause: event.payload.cause, delay_ms: event.payload.delayMs };
    case "node.timed_out":
      return { timeout_ms: event.payload.timeoutMs };
    case "node.failed":
      return { error_code: event.payload.cause, error_message: event.payload.message };
    case "node.completed": {
      const { durationMs, usage } = event.payload;
      const { inputTokens = 0, outputTokens = 0 } = usage ?? {};
      return { duration_ms: durationMs, input_tokens: inputTokens, output_tokens: outputTokens };
    }
    case "moderation.flagged":
      return { ...objectOf(event.value), phase: event.payload.phase };
    case "contract.violated":
      return { phase: event.payload.phase, errors: listOf(event.value) };
    case "node.cancelled":
    case "run.started":
    case "run.timed_out":
      return {};
    case "run.status.changed":
      return { from: event.payload.from, to: event.payload.to };
    case "run.completed":
      return { has_failures: event.payload.hasFailures };
    case "run.failed":
      return { error_message: event.payload.message };
    case "node.skipped":
    case "node.blocked":
    case "node.invalidated":
    case "run.cancelled":
    case "run.recovered":
      return { reason: event.payload.reason };
    case "run.metadata.set":
    case "node.decided":
    case "node.stream.delta":
    case "node.log":
    default:
      return undefined;
  }
}

function objectOf(json: string | undefined): object {
  const value: unknown = json === undefined ? undefined : JSON.parse(json);
  return typeof value === "object" && value !== null && !Array.isArray(value) ? value : {};
}

function listOf(json: string | undefined): readonly unknown[] {
  const value: unknown = json === undefined ? undefined : JSON.parse(json);
  return Array.isArray(value) ? value : [];
}
