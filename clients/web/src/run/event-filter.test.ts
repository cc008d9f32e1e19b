import type { EventType } from "@pawl/core/log/event";
import { nodeStatusAfter } from "@pawl/core/log/meaning";
import { expect, test } from "vitest";
import { type EventRow, filterRows, WINDOW_FROM, windowOf } from "./event-rows.ts";

const row = (seq: number, type: EventType, nodeId = "", payload = "{}"): EventRow => ({
  seq,
  type,
  status: nodeStatusAfter(type) ?? "",
  nodeId,
  iteration: 0,
  attempt: 0,
  at: 0,
  payload,
});

const rows = [
  row(1, "run.started"),
  row(2, "node.stream.delta", "draft", '{"text":"Dear Ada"}'),
  row(3, "node.retried", "orders"),
  row(4, "node.completed", "draft"),
];
const seqs = (found: readonly EventRow[]): number[] => found.map(({ seq }) => seq);

test("the log is filtered by kind and by text in type, node or payload", () => {
  expect(filterRows(rows, "all", " ")).toBe(rows);
  expect(seqs(filterRows(rows, "failures", ""))).toEqual([3]);
  expect(seqs(filterRows(rows, "states", "draft"))).toEqual([4]);
  expect(seqs(filterRows(rows, "all", "ADA"))).toEqual([2]);
});

test("another name of an event type finds its events (X6)", () => {
  const queued = [...rows, row(5, "node.queued", "draft")];
  expect(seqs(filterRows(queued, "all", "NODE_DISPATCHED"))).toEqual([5]);
  expect(seqs(filterRows(queued, "all", "node_retried"))).toEqual([3]);
});

test("a short log is drawn whole, a long log only around the visible part", () => {
  expect(windowOf(WINDOW_FROM, 9999, 400, 26)).toEqual({ first: 0, last: WINDOW_FROM });
  const { first, last } = windowOf(10_000, 26 * 5000, 400, 26);
  expect(first).toBeLessThanOrEqual(5000);
  expect(last).toBeGreaterThanOrEqual(5016);
  expect(last - first).toBeLessThan(100);
  expect(windowOf(10_000, 26 * 10_000, 400, 26).last).toBe(10_000);
});
