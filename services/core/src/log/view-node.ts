// Folds one event into the view of one node execution. A delivery is queued, started and ended. A retry or a lost executor ends it, and the
// next node.queued opens another.

import { isSettled } from "./event.ts";
import type { FactOf, RunEvent } from "./event.ts";
import { endsInline, failureOf, nodeStatusAfter, reasonOf } from "./meaning.ts";
import type { Delivery, DeliveryEnd } from "./view-parts.ts";
import type { NodeDraft } from "./view.ts";

/** How many pictures and files a view keeps of one node. It keeps the newest. */
const MEDIA_MAX = 20;

/** Folds `event`, which names this execution, into `node`. */
export function viewNode(node: NodeDraft, event: RunEvent): void {
  if (endsInline(event)) startInline(node, event);
  const status = nodeStatusAfter(event.type);
  if (status !== undefined) {
    node.status = status;
    if (status !== "waiting") node.heldUntil ??= node.heldAt === undefined ? undefined : event.at;
    if (isSettled(status)) settle(node, event);
    const reason = reasonOf(event);
    if (reason !== undefined) Object.assign(node, reason);
    node.failure = failureOf(event);
  }
  // oxlint-disable-next-line typescript/switch-exhaustiveness-check -- the table has the meaning of the other types
  switch (event.type) {
    case "node.queued":
      return queue(node, event);
    case "node.started":
      return start(node, event);
    case "node.stream.delta":
      return addDelta(node, event);
    case "node.log": {
      const { level, message } = event.payload;
      node.log.push({ seq: event.seq, at: event.at, level, message });
      return;
    }
    case "node.retried":
      return endDelivery(node, "retried", event.at);
    case "run.recovered":
      node.lostDeliveries = event.payload.lostDeliveries;
      return endDelivery(node, "lost", event.at);
    case "node.expanded":
      node.width = event.payload.width;
      node.taint = event.payload.taint ?? node.taint;
      return;
    case "node.blocked":
      return block(node, event);
    case "node.decided": {
      const { decision, decidedBy: by = "", comment, dropped } = event.payload;
      if (dropped !== undefined) Object.assign(node, { dropped, dropReason: comment });
      node.decision = { decision, by, comment, response: event.value ?? "", at: event.at };
      return;
    }
    case "node.completed":
      return complete(node, event);
    case "node.failed":
    case "node.timed_out":
      node.details = event.value ?? "";
      return;
    default:
  }
}

/** Whether an event of an iteration changes the view of its agent. An item of a map never does. */
export const isStep = (
  node: Pick<NodeDraft, "pendingCalls" | "width">,
  { item }: Pick<NodeDraft, "item">,
  event: RunEvent,
  isNew: boolean,
): boolean =>
  (isNew && (node.pendingCalls.length > 0 || item > (node.width ?? 0))) ||
  (event.type === "node.completed" && event.payload.calls !== undefined);

/** Folds an event of an iteration into its agent: which tool a new iteration calls, and how many there are. */
export function viewStep(node: NodeDraft, step: NodeDraft, event: RunEvent, isNew: boolean): void {
  if (isNew) {
    const [tool = "", ...later] = node.pendingCalls;
    step.tool = tool;
    node.pendingCalls = later;
    node.width = Math.max(node.width ?? 0, step.item);
  }
  if (event.type === "node.completed" && event.payload.calls !== undefined)
    node.pendingCalls = event.payload.calls.map(({ name }) => name);
}

type Logged<T extends RunEvent["type"]> = FactOf<T> & Pick<RunEvent, "seq" | "at">;

function settle(node: NodeDraft, { at }: RunEvent): void {
  node.cause = "";
  node.message = "";
  node.settledAt = at;
  // The name of a settled status is also the name of a delivery's end.
  endDelivery(node, node.status as DeliveryEnd, at);
}

function queue(node: NodeDraft, { attempt, at, payload }: Logged<"node.queued">): void {
  const { notBefore, slot, rate } = payload;
  endDelivery(node, "held", at);
  node.attempt = attempt;
  if (slot !== undefined) node.limits = { ...node.limits, slot };
  if (rate !== undefined) node.limits = { ...node.limits, rate };
  node.deliveries.push(newDelivery(attempt, at, notBefore));
}

function start(node: NodeDraft, { attempt, seq, at, payload }: Logged<"node.started">): void {
  const last = node.deliveries.at(-1);
  const isOpen = last !== undefined && last.startedAt === undefined && last.end === undefined;
  const open = isOpen ? last : newDelivery(attempt, at, undefined);
  const { executorId } = payload;
  const delivery = { ...open, attempt, epoch: seq, executorId, startedAt: at };
  node.deliveries.splice(isOpen ? -1 : node.deliveries.length, 1, delivery);
  node.attempt = attempt;
  node.startedAt = at;
  node.cause = "";
  node.message = "";
  node.taint = payload.taint ?? [];
}

/** The scheduler completed the node itself. Its only delivery names no executor and starts with its end. */
function startInline(node: NodeDraft, { attempt, at }: RunEvent): void {
  const last = node.deliveries.at(-1);
  const isQueued = last !== undefined && last.startedAt === undefined && last.end === undefined;
  if (last !== undefined && !isQueued) return;
  const delivery = { ...(last ?? newDelivery(attempt, at, undefined)), startedAt: at };
  node.deliveries.splice(isQueued ? -1 : 0, 1, delivery);
  node.attempt = attempt;
  node.startedAt ??= at;
}

/** Drops a piece that the view already has. A new claim starts the text again. In logs of older releases it also starts the index again. */
function addDelta(node: NodeDraft, { epoch, payload }: Logged<"node.stream.delta">): void {
  const { deltaIndex, text, media } = payload;
  if (epoch !== node.textEpoch)
    Object.assign(node, { text: "", media: [], textEpoch: epoch, nextDelta: 0 });
  if (deltaIndex < node.nextDelta) return;
  node.text += text;
  if (media !== undefined) node.media = [...node.media, media].slice(-MEDIA_MAX);
  node.nextDelta = deltaIndex + 1;
}

function block(node: NodeDraft, { payload, at }: Logged<"node.blocked">): void {
  const last = node.deliveries.at(-1);
  const isAtWork = last !== undefined && last.end === undefined;
  if (!isAtWork) Object.assign(node, { heldAt: at, heldUntil: undefined });
  node.childRunId = payload.childRunId ?? "";
  node.approvalId = payload.approval?.approvalId ?? "";
  node.question = payload.approval?.message ?? "";
  node.taint = payload.taint ?? node.taint;
  const { name = "", timeoutMs } = payload.signal ?? {};
  node.signal = name;
  node.signalUntil = timeoutMs === undefined ? undefined : at + timeoutMs;
  node.decision = undefined;
}

function complete(node: NodeDraft, { payload, value, at }: Logged<"node.completed">): void {
  const { handle = "", queueDelayMs = 0, taint = [], sanitized } = payload;
  node.taint = taint;
  if (sanitized !== undefined)
    Object.assign(node, { dropped: sanitized.labels, dropReason: sanitized.reason });
  node.handle = handle;
  node.output = value ?? "";
  node.releaseAt = queueDelayMs > 0 ? at + queueDelayMs : undefined;
}

const newDelivery = (attempt: number, at: number, notBeforeAt: number | undefined): Delivery => ({
  attempt,
  epoch: 0,
  executorId: "",
  queuedAt: at,
  notBeforeAt,
  startedAt: undefined,
  endedAt: undefined,
  end: undefined,
});

function endDelivery({ deliveries }: NodeDraft, end: DeliveryEnd, at: number): void {
  const last = deliveries.at(-1);
  if (last !== undefined && last.end === undefined)
    deliveries.splice(-1, 1, { ...last, end, endedAt: at });
}
