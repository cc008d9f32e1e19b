// A payload of every event type, for tests that go through all of them.

import type { Payloads } from "@pawl/core/log/event-table";
import { newExecutorId } from "./facts.ts";

export const PAYLOADS: Payloads = {
  "run.started": { definitionDigest: "d", workflowVersion: 2, kind: "saved", deadlineAt: 5 },
  "run.status.changed": { from: "running", to: "waiting" },
  "run.completed": { hasFailures: true },
  "run.failed": { failedNodeId: "a", message: "no" },
  "run.cancelled": { reason: "why", requestId: "r" },
  "run.timed_out": { deadlineAt: 5 },
  "run.recovered": { reason: "stream_broken", executorId: newExecutorId(), lostDeliveries: 1 },
  "run.thread.taken": { threadId: "chat", taint: { plan: [{ label: "web", nodeId: "" }] } },
  "run.signalled": { name: "paid", requestId: "r", digest: "d" },
  "run.budget.raised": { tokens: 5, requestId: "r", who: "ada", reason: "more" },
  "run.metadata.set": {},
  "node.queued": { notBefore: 5 },
  "node.started": { executorId: newExecutorId(), wave: 3 },
  "node.expanded": { width: 2 },
  "node.stream.delta": { deltaIndex: 4, text: "x" },
  "node.log": { logIndex: 0, level: "info", message: "m" },
  "node.retried": { cause: "rate_limit", message: "m", delayMs: 7 },
  "node.completed": { durationMs: 12.5, usage: { inputTokens: 3, outputTokens: 4 } },
  "node.failed": { cause: "boom", message: "bad" },
  "node.cancelled": { reason: "r" },
  "node.skipped": { reason: "untaken_branch" },
  "node.timed_out": { timeoutMs: 9 },
  "node.blocked": { reason: "approval", phase: "output", durationMs: 1 },
  "node.decided": { decision: "reject", reason: "r", comment: "c", requestId: "q" },
  "node.invalidated": { reason: "r" },
  "moderation.flagged": { phase: "input" },
  "memory.updated": { keys: ["draft", "notes"], replaced: ["notes"] },
  "contract.violated": { phase: "output" },
};
