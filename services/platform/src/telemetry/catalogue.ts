// Every name of a span, metric and attribute. Metric names include their unit: the Prometheus exporter does not append it, and a collector
// would. Labels have few values by design: never a run id, never a node id.

import type { Meter } from "@opentelemetry/api";

import { COUNT_BUCKETS, counter, gauge, histogram, level, type Instrument } from "./instrument.ts";

/** Span names. Calls are named by their method, `package.Service/Method`. */
export const SPANS = {
  /** One attempt of a node on an executor, with a link to the span that started the run. */
  attempt: "pawl.attempt",
  /** The handler inside an attempt. */
  handler: "pawl.handler",
  /** The time in which a node was ready and no executor had claimed it. */
  wait: "pawl.wait",
  /** One tick, with links to the runs that it moves. */
  tick: "pawl.tick",
  /** One query outside a tick. */
  query: "pawl.query",
  /** An occurrence of a schedule that starts a run. */
  occurrence: "pawl.schedule.occurrence",
  /** A webhook call on an executor, in the trace of its run, with a link to the span that started the run. */
  webhook: "pawl.webhook",
  /** A command of the workflow queue. */
  command: "pawl.command",
  /** A stream of events over Server-Sent Events. */
  eventStream: "GET /execute/workflows/{runId}/events",
} as const;

/** Attribute names of spans. */
export const ATTRIBUTES = {
  runId: "pawl.run.id",
  workflowId: "pawl.workflow.id",
  nodeId: "pawl.node.id",
  nodeType: "pawl.node.type",
  iteration: "pawl.node.iteration",
  attempt: "pawl.node.attempt",
  epoch: "pawl.claim.epoch",
  outcome: "pawl.outcome",
  cause: "pawl.failure.cause",
  scheduleId: "pawl.schedule.id",
  jobId: "pawl.job.id",
  deliveryId: "pawl.delivery.id",
  call: "pawl.delivery.call",
  inputCount: "pawl.tick.inputs",
  eventCount: "pawl.tick.events",
  // Semantic conventions of OpenTelemetry 1.45; pinned only here.
  rpcSystem: "rpc.system.name",
  rpcMethod: "rpc.method",
  rpcStatusCode: "rpc.response.status_code",
  dbSystem: "db.system.name",
  dbQuery: "db.query.summary",
  httpMethod: "http.request.method",
  httpStatus: "http.response.status_code",
  serverAddress: "server.address",
  serverPort: "server.port",
} as const;

type RpcLabels = { readonly rpc_method: string; readonly rpc_response_status_code: string };

/** Every metric. */
export const METRICS = {
  rpcServerCallDuration: histogram<RpcLabels>(
    "rpc.server.call.duration",
    "Calls answered, in seconds",
  ),
  rpcClientCallDuration: histogram<RpcLabels>("rpc.client.call.duration", "Calls made, in seconds"),
  tickDuration: histogram("pawl_tick_duration_seconds", "One tick, from inbox to commit"),
  tickBatchSize: histogram("pawl_tick_batch_size", "Inputs taken by one tick", COUNT_BUCKETS),
  tickConflicts: counter(
    "pawl_tick_conflicts_total",
    "Ticks that lost a compare-and-swap and were done again",
  ),
  runsStarted: counter<{ readonly kind: string }>("pawl_runs_started_total", "Runs accepted"),
  runsFinished: counter<{ readonly status: string }>("pawl_runs_finished_total", "Runs ended"),
  runsRemoved: counter<{ readonly status: string }>(
    "pawl_runs_removed_total",
    "Finished runs that retention removed",
  ),
  temporaryDeleted: counter(
    "pawl_temporary_runs_deleted_total",
    "Temporary runs that were deleted after their end",
  ),
  runsArchived: counter<{ readonly outcome: string }>(
    "pawl_runs_archived_total",
    "Finished runs that retention wrote to the archive, or failed to write",
  ),
  runsRestored: counter("pawl_runs_restored_total", "Runs put back from the archive"),
  bulkRuns: counter<{ readonly action: string; readonly outcome: string }>(
    "pawl_bulk_runs_total",
    "Runs that bulks handled",
  ),
  monthsRemoved: counter<{ readonly how: string }>(
    "pawl_months_removed_total",
    "Months of the log that retention dropped, or rewrote without removed runs",
  ),
  deltasFolded: counter(
    "pawl_deltas_folded_total",
    "Stream deltas of finished runs that lost their text",
  ),
  runDuration: histogram<{ readonly status: string }>(
    "pawl_run_duration_seconds",
    "Runs from start to end",
  ),
  nodesStarted: counter<{ readonly type: string }>("pawl_nodes_started_total", "Attempts started"),
  nodesCompleted: counter<{ readonly state: string; readonly type: string }>(
    "pawl_nodes_completed_total",
    "Node executions ended",
  ),
  nodeRetries: counter<{ readonly cause: string }>(
    "pawl_node_retries_total",
    "Attempts after the first",
  ),
  tokens: counter<{ readonly model: string; readonly direction: string }>(
    "pawl_tokens_total",
    "Tokens that models read and wrote, by model; the model is empty if the handler named none",
  ),
  costMicros: counter<{ readonly model: string }>(
    "pawl_cost_micro_dollars_total",
    "Cost of models in micro-dollars, by model",
  ),
  claimsFenced: counter("pawl_claims_fenced_total", "Messages refused for a stale claim"),
  leasesLost: counter(
    "pawl_leases_lost_total",
    "Leases taken back from executors that fell silent",
  ),
  claimsOverdue: counter(
    "pawl_claims_overdue_total",
    "Claims past their node's timeout that the scheduler ended",
  ),
  leases: gauge("pawl_leases", "Claims held by executors connected here"),
  deadLetters: counter(
    "pawl_dead_letters_total",
    "Node executions given up after too many lost leases",
  ),
  openDeadLetters: gauge("pawl_dead_letters", "Open dead letters: no person has handled them yet"),
  queueDepth: gauge<{ readonly queue: string }>("pawl_queue_depth", "Nodes waiting"),
  queueOldestAge: gauge<{ readonly queue: string }>(
    "pawl_queue_oldest_age_seconds",
    "How long the oldest waiting node has waited",
  ),
  queueMedianAge: gauge<{ readonly queue: string }>(
    "pawl_queue_median_age_seconds",
    "The median time that due nodes have waited, at the last sample; the queue is empty for all together",
  ),
  workerSlots: gauge<{ readonly state: string }>(
    "pawl_worker_slots",
    "Slots of all live executors at the last sample: max, active and available",
  ),
  runsLive: gauge<{ readonly state: string }>(
    "pawl_runs_live",
    "Runs at the last sample: pending (not begun) and running",
  ),
  runsPendingAge: gauge<{ readonly of: string }>(
    "pawl_runs_pending_age_seconds",
    "How long pending runs have waited, at the last sample: the oldest and the median",
  ),
  poolConnections: gauge<{ readonly pool: string; readonly state: string }>(
    "pawl_pool_connections",
    "Database connections and standing streams of this process at the last sample: max, in_use and idle",
  ),
  runsQuarantined: counter<{ readonly reason: string }>(
    "pawl_runs_quarantined_total",
    "Runs set aside because their log or an input of theirs could not be taken",
  ),
  strandedResent: counter(
    "pawl_stranded_resent_total",
    "Node executions without job or lease that were put back in motion",
  ),
  snapshotsWritten: counter("pawl_snapshots_written_total", "Snapshots of long runs written"),
  commands: gauge<{ readonly status: string }>(
    "pawl_commands",
    "Commands of the workflow queue that wait, are active, paused or given up",
  ),
  commandBacklog: gauge("pawl_command_backlog", "Commands that wait or are active"),
  occurrencesStarted: counter(
    "pawl_occurrences_started_total",
    "Occurrences of schedules that started a run",
  ),
  occurrencesSkipped: counter(
    "pawl_occurrences_skipped_total",
    "Occurrences of schedules that started no run: missed, overlapping or refused",
  ),
  webhookCalls: counter<{ readonly outcome: string }>(
    "pawl_webhook_calls_total",
    "Webhook calls that ended: delivered, failed (made again later), dead, lost with their claim, or refused because the executor makes no calls",
  ),
  webhookCallDuration: histogram(
    "pawl_webhook_call_duration_seconds",
    "Webhook calls, by the executor that made them",
  ),
  webhooksPending: gauge("pawl_webhooks_pending", "Webhook deliveries that wait or are called"),
  webhookOldestAge: gauge(
    "pawl_webhook_oldest_age_seconds",
    "How long the oldest due webhook delivery has waited",
  ),
  sweepDuration: histogram<{ readonly duty: string }>("pawl_sweep_duration_seconds", "One sweep"),
  executorsConnected: level("pawl_executors_connected", "Work streams open"),
  executorsAlive: gauge(
    "pawl_executors_alive",
    "Executors alive, whichever scheduler they are connected to, when /readyz was last asked",
  ),
  slotsBusy: gauge("pawl_slots_busy", "Attempts running on this executor"),
  handlerDuration: histogram<{ readonly type: string; readonly outcome: string }>(
    "pawl_handler_duration_seconds",
    "Handlers, from start to outcome",
  ),
  sandboxKills: counter<{ readonly cause: string }>(
    "pawl_sandbox_kills_total",
    "Sandboxes killed from outside",
  ),
  handlerLateItems: counter(
    "pawl_handler_late_items_total",
    "Items of handler processes about invocations that were over already",
  ),
  handlerSessionsLost: counter(
    "pawl_handler_sessions_lost_total",
    "Handler processes given up because they were cut off or silent for too long",
  ),
  streamSubscribers: level("pawl_stream_subscribers", "Watchers connected"),
  streamCutoffs: counter(
    "pawl_stream_cutoffs_total",
    "Watchers cut off because they read too slowly",
  ),
  eventsDelivered: counter("pawl_events_delivered_total", "Events handed to watchers"),
  internalFaults: counter("pawl_internal_faults_total", "Throws that are bugs of ours"),
} as const;

/** Binds every metric to `meter`. startTelemetry calls it. */
export const bindMetrics = (meter: Meter): void => {
  const instruments: readonly Instrument[] = Object.values(METRICS);
  for (const instrument of instruments) instrument.bind(meter);
};
