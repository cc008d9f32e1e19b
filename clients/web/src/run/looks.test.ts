import { expect, test } from "vitest";
import { readGraph } from "@pawl/client";
import { culpritOf, linksOf, looksOf } from "./looks.ts";
import { scriptLog, viewOf } from "./scripted-events.fixture.ts";

/** A graph of edges such as "a>b". */
const graphOf = (...edges: readonly string[]) =>
  readGraph({
    nodes: [...new Set(edges.flatMap((edge) => edge.split(">")))].map((id) => ({ id, type: "x" })),
    edges: edges.map((edge) => {
      const [source, target] = edge.split(">");
      return { source, target };
    }),
  });

/** Short words for a log; times are in ms. */
function teller() {
  const { events, add } = scriptLog();
  return {
    events,
    start: () => add("run.started", "", { case: "runStarted", value: {} }, { at: 0 }),
    works: (id: string) => {
      add("node.queued", id, { case: "nodeQueued", value: {} });
      add("node.started", id, { case: "nodeStarted", value: {} });
    },
    completes: (id: string, value: { handle?: string; queueDelayMs?: bigint } = {}, at?: number) =>
      add("node.completed", id, { case: "nodeCompleted", value }, at === undefined ? {} : { at }),
    fails: (id: string, cause = "js_error") =>
      add("node.failed", id, { case: "nodeFailed", value: { cause, message: "no" } }),
    cancels: (id: string) => add("node.cancelled", id, { case: "nodeCancelled", value: {} }),
    ends: (failedNodeId: string) =>
      failedNodeId === ""
        ? add("run.completed", "", { case: "runCompleted", value: { hasFailures: true } })
        : add("run.failed", "", { case: "runFailed", value: { failedNodeId, message: "no" } }),
    add,
  };
}

function shown(
  graph: ReturnType<typeof graphOf>,
  events: ReturnType<typeof teller>["events"],
  now = 1e9,
) {
  const looks = looksOf(graph, linksOf(graph), viewOf(events), now);
  return Object.fromEntries([...looks].map(([key, { look }]) => [key, look]));
}

test("one node is to blame; nodes that never ran because of it look different and name it", () => {
  const graph = graphOf("a>b", "b>c", "c>d", "a>e");
  const { events, start, works, completes, fails, ends } = teller();
  start();
  works("a");
  completes("a");
  works("b");
  fails("b");
  fails("c", "upstream_failure");
  fails("d", "upstream_failure");
  works("e");
  completes("e");
  ends("b");
  expect(shown(graph, events)).toEqual({
    a: "completed",
    b: "failed",
    c: "not_run",
    d: "not_run",
    e: "completed",
  });
  expect(culpritOf("d", linksOf(graph), viewOf(events))).toBe("b");
});

test("a node that was stopped before it began, because another failed the whole run, never ran", () => {
  const graph = graphOf("a>b", "c>d");
  const { events, start, works, fails, cancels, ends } = teller();
  start();
  works("a");
  works("c");
  fails("a", "timeout");
  cancels("b");
  cancels("c");
  ends("a");
  expect(shown(graph, events)).toEqual({
    a: "failed",
    b: "not_run",
    c: "cancelled",
    d: "not_run",
  });
});

test("a failure is handled if the node left by error, if its children ran, or if the run completed", () => {
  const graph = graphOf("a>b", "c>d", "e>f");
  const { events, start, works, completes, fails, ends } = teller();
  start();
  works("a");
  completes("a", { handle: "error" });
  works("b");
  completes("b");
  works("c");
  fails("c");
  expect(shown(graph, events)).toMatchObject({ a: "handled", c: "failed" });
  works("d");
  completes("d");
  expect(shown(graph, events)).toMatchObject({ c: "handled" });
  works("e");
  fails("e");
  expect(shown(graph, events)).toMatchObject({ e: "failed" });
  ends("");
  expect(shown(graph, events)).toMatchObject({ e: "handled", f: "not_run" });
});

test("a delay waits and its child is pending until the time is up or the child begins", () => {
  const graph = graphOf("a>b");
  const { events, start, works, completes, add } = teller();
  start();
  works("a");
  completes("a", { queueDelayMs: 5_000n }, 1_000);
  const notBeforeTime = { seconds: 6n, nanos: 0 };
  add("node.queued", "b", { case: "nodeQueued", value: { notBeforeTime } });
  expect(shown(graph, events, 2_000)).toEqual({ a: "waiting", b: "pending" });
  expect(shown(graph, events, 6_001)).toEqual({ a: "completed", b: "queued" });
  add("node.started", "b", { case: "nodeStarted", value: {} });
  expect(shown(graph, events, 2_000)).toEqual({ a: "completed", b: "running" });
});

test("a retry that waits for its backoff is queued, and a delay at the end of a graph waits for nothing", () => {
  const graph = graphOf("a>b");
  const { events, start, works, completes, add, ends } = teller();
  start();
  const notBeforeTime = { seconds: 60n, nanos: 0 };
  add("node.queued", "a", { case: "nodeQueued", value: { notBeforeTime } }, { attempt: 2 });
  expect(shown(graph, events, 2_000)).toMatchObject({ a: "queued" });
  works("b");
  completes("b", { queueDelayMs: 5_000n }, 1_000);
  ends("");
  expect(shown(graph, events, 2_000)).toMatchObject({ b: "completed" });
});
