// Every reader of a log sees the same run: the scheduler's fold, GetRun, the view, the console, the command line, the pushes of status
// and the tags.

import { fromBinary, toBinary } from "@bufbuild/protobuf";
import { applyEvent, createProgress } from "@pawl/cli/render/progress-model";
import { fromWire, nodeStatusName } from "@pawl/client";
import type { Graph } from "@pawl/core/definition/graph";
import type { EventType, Fact, RunEvent } from "@pawl/core/log/event";
import { roundOf } from "@pawl/core/log/execution";
import { apply, fold, newRunState, runStatus } from "@pawl/core/log/fold";
import { nodeStatusAfter, runStatusAfter } from "@pawl/core/log/meaning";
import type { ExecutionState, RunState } from "@pawl/core/log/state";
import { tagOf } from "@pawl/core/log/tags";
import { nodeKey, type NodeView, type RunView, view, ViewFold } from "@pawl/core/log/view";
import { toWireEvent } from "@pawl/platform/wire/event";
import { toWireNodeRuns } from "@pawl/platform/wire/run";
import { toUpdate } from "@pawl/platform/wire/update";
import { type RunEvent as WireEvent, RunEventSchema } from "@pawl/proto/pawl/v1/event_pb";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { RunFeed } from "../../clients/web/src/run/feed.ts";
import { PAYLOADS } from "./every-event.ts";
import { play, scenarios } from "../../services/core/test/arbitrary-run.ts";
import { nodeId } from "@pawl/core/name/ids";
import { EXECUTOR, RUN, sketch, startToyRun } from "../../services/core/test/toy-run.ts";

fc.configureGlobal({ seed: 1 });

const SCOPE = { workflowId: "w", traceId: "", waveOf: () => 0 };

/** The events as a client receives them. */
const received = (events: readonly RunEvent[]): WireEvent[] =>
  events.map((event) =>
    fromBinary(RunEventSchema, toBinary(RunEventSchema, toWireEvent(event, SCOPE))),
  );

/** What all readers must agree on. */
interface Seen {
  readonly status: string;
  readonly hasFailures: boolean;
  readonly output: string | undefined;
  readonly message: string;
  readonly nodes: Readonly<Record<string, object>>;
}

type Facts = Pick<
  ExecutionState,
  "status" | "attempt" | "lostDeliveries" | "startedAt" | "settledAt"
>;

const facts = ({ status, attempt, lostDeliveries, startedAt, settledAt }: Facts) =>
  ({ status, attempt, lostDeliveries, startedAt, settledAt }) as const;

/** An execution of the fold and its key. */
const executionsOf = ({ graph, nodes }: RunState): (readonly [string, ExecutionState])[] =>
  graph.nodes.flatMap(({ index, definition: { id } }) => {
    const node = nodes[index];
    if (node === undefined) return [];
    return roundOf(node).map(
      ([iteration, each]) => [nodeKey(id, iteration, node.base), each] as const,
    );
  });

function seenByFold(state: RunState): Seen {
  const touched = executionsOf(state).filter(([, { status }]) => status !== "pending");
  return {
    status: runStatus(state),
    hasFailures: state.hasFailures,
    output: state.output,
    message: state.message ?? "",
    nodes: Object.fromEntries(touched.map(([key, execution]) => [key, facts(execution)])),
  };
}

const seenByView = ({ status, hasFailures, output, message, nodes }: RunView): Seen => ({
  status,
  hasFailures,
  output,
  message,
  nodes: Object.fromEntries(
    [...nodes.values()]
      .filter((node: NodeView) => node.status !== "pending")
      .map((node) => [node.key, facts(node)]),
  ),
});

async function seenByConsole(events: readonly WireEvent[]): Promise<Seen> {
  const feed = new RunFeed(
    async function* () {
      yield* events;
    },
    (draw) => draw(),
  );
  await feed.start();
  expect(feed.snapshot().rows).toHaveLength(events.length);
  return seenByView(feed.snapshot().view);
}

function seenByCommandLine(events: readonly WireEvent[]): Seen {
  const progress = createProgress({ title: "", definition: undefined });
  for (const event of events) applyEvent(progress, event);
  return seenByView(progress.view());
}

/** The newest status of the run ("") and of every node execution. */
type Statuses = Readonly<Record<string, string>>;

const statusesOf = ({ status, nodes }: Seen): Statuses => ({
  "": status,
  ...Object.fromEntries(Object.entries(nodes).map(([key, node]) => [key, (node as Facts).status])),
});

/** A page that gets the pushes of status and nothing else. */
function statusesPushed(events: readonly RunEvent[]): Statuses {
  const statuses: Record<string, string> = {};
  for (const event of events) {
    const { data } = toUpdate(event, "{}") ?? {};
    if (data === undefined) continue;
    const pushed = JSON.parse(data) as {
      readonly nodeID?: string;
      readonly iteration?: number;
      readonly status: string;
    };
    statuses[nodeKey(pushed.nodeID ?? "", pushed.iteration ?? 0)] = pushed.status;
  }
  return statuses;
}

const statusesGot = (state: RunState): Statuses => ({
  "": runStatus(state),
  ...Object.fromEntries(
    toWireNodeRuns(state)
      .map((node) => [nodeKey(node.nodeId, node.iteration), nodeStatusName(node.status)])
      .filter(([, status]) => status !== "pending"),
  ),
});

async function expectOneTruth(graph: Graph, events: readonly RunEvent[]): Promise<void> {
  const state = fold(RUN, graph, events);
  const seen = seenByFold(state);
  const wire = received(events);
  expect(seenByView(view(events))).toEqual(seen);
  expect(seenByView(view(wire.flatMap((event) => fromWire(event) ?? [])))).toEqual(seen);
  expect(await seenByConsole(wire)).toEqual(seen);
  expect(seenByCommandLine(wire)).toEqual(seen);
  const statuses = statusesOf(seen);
  expect(statusesGot(state)).toEqual(statuses);
  // A push says what its event says: an event of a node does not push the status of its run.
  expect(statusesPushed(events)).toEqual({ ...statuses, "": state.status });
  const isChange = (event: RunEvent): boolean =>
    (runStatusAfter(event) ?? nodeStatusAfter(event.type)) !== undefined;
  expect(events.filter((event) => isChange(event) !== (tagOf(event) !== undefined))).toEqual([]);
}

/** The scheduler's fold and the clients' view, event by event. */
function expectSameSteps(graph: Graph, events: readonly RunEvent[]): void {
  const state = newRunState(RUN, graph);
  const folding = new ViewFold();
  for (const event of events) {
    apply(state, event);
    folding.add(event);
    expect(seenByView(folding.view())).toEqual(seenByFold(state));
  }
}

test("every reader sees the same statuses, attempts and outcomes in any log, after every event (S1.57, S3.42, S3.43)", async () => {
  await fc.assert(
    fc.asyncProperty(scenarios(6, { fatal: true }), fc.integer(), async (scenario, seed) => {
      const { run } = play(scenario, seed, undefined, { pauses: true });
      expectSameSteps(run.state.graph, run.events);
      const cut = 1 + (Math.abs(seed) % run.events.length);
      await expectOneTruth(run.state.graph, run.events.slice(0, cut));
      await expectOneTruth(run.state.graph, run.events);
    }),
    { numRuns: 60 },
  );
});

const OF_RUN = { nodeId: "", iteration: 0, attempt: 0, epoch: 0 } as const;
const STARTED = {
  definitionDigest: "d",
  workflowVersion: 1,
  kind: "saved",
  deadlineAt: 9,
} as const;
const logOf = (...drafts: readonly Fact[]): RunEvent[] =>
  drafts.map((fact, index) => ({ ...fact, runId: RUN, seq: index + 1, at: 1_000 + index }));

test("a run that waits for a limit is pending to every reader until it is admitted (S1.46)", async () => {
  const slot = { key: "c1", limit: 1, scope: "workflow" } as const;
  const begun: Fact = { ...OF_RUN, type: "run.started", payload: { ...STARTED, slot }, value: "1" };
  const changed = { from: "pending", to: "running" } as const;
  const admitted: Fact = { ...OF_RUN, type: "run.status.changed", payload: changed };
  const graph = sketch(["a"], []);
  await expectOneTruth(graph, logOf(begun));
  expect(view(logOf(begun))).toMatchObject({ status: "pending", limits: { slot } });
  await expectOneTruth(graph, logOf(begun, admitted));
  expect(view(logOf(begun, admitted))).toMatchObject({ status: "scheduled", limits: {} });
});

test("a node whose executor was lost is retrying to every reader (S0.30, X6)", async () => {
  const run = startToyRun(sketch(["a"], []));
  run.claim("a");
  const payload = { reason: "lease_expired", executorId: EXECUTOR, lostDeliveries: 1 } as const;
  const lost = run.events.findLast(({ type }) => type === "node.started");
  if (lost === undefined) throw new Error("no claim");
  const place = { nodeId: lost.nodeId, iteration: 0, attempt: 1, epoch: 0 };
  run.append({ ...place, type: "run.recovered", payload });
  expect(run.node("a").status).toBe("retrying");
  await expectOneTruth(run.state.graph, run.events);
});

test("a run that passed its deadline has timed out to every reader, for the same reason (S2.28)", async () => {
  const begun: Fact = { ...OF_RUN, type: "run.started", payload: STARTED, value: "null" };
  const ended: Fact = { ...OF_RUN, type: "run.timed_out", payload: { deadlineAt: 9 } };
  await expectOneTruth(sketch(["a"], []), logOf(begun, ended));
});

/** The parts of a payload that the wire leaves out, or rounds to whole milliseconds. */
const LOST: Partial<Record<EventType, object>> = {
  "run.cancelled": { requestId: "" },
  "node.decided": { requestId: "" },
  "run.signalled": { digest: "" },
  "node.started": { wave: undefined },
  "node.completed": { durationMs: 13 },
  "node.blocked": { durationMs: undefined },
};

// The keys of a literal table are exactly its declared ones.
test.each(Object.keys(PAYLOADS) as EventType[])(
  "%s comes back from the wire as the event that the gateway sent (S1.44-S1.47)",
  (type) => {
    const place = { nodeId: nodeId("a"), iteration: 1, attempt: 2, epoch: 3 };
    // Each payload belongs to its type; the union cannot see it.
    const fact = { ...place, type, payload: PAYLOADS[type] } as Fact;
    const [event] = logOf(fact);
    if (event === undefined) throw new Error("no event");
    const [back] = received([event]).map(fromWire);
    expect(back).toEqual({ ...event, payload: { ...event.payload, ...LOST[type] } });
  },
);

test("the user's JSON comes back from the wire as the text it was", () => {
  const place = { nodeId: nodeId("a"), iteration: 0, attempt: 1, epoch: 3 };
  const value = '{"big": 12345678901234567890, "é": "\\u2028"}';
  const payload = { durationMs: 1 };
  const events = logOf({ ...place, type: "node.completed", payload, value });
  expect(received(events).map(fromWire)).toEqual(events);
});

test("all readers agree about nodes that the scheduler completed itself (S3.24, S3.30)", async () => {
  const map = { id: "m", type: "map", config: { items: [1, 2], body: { type: "noop" } } };
  const check = {
    id: "c",
    type: "condition",
    config: { branches: [{ id: "yes", when: "ctx.input.missing > 1" }] },
    error_handling: "continue",
  };
  const rest = { id: "d", type: "delay", config: { delay_ms: 1_000 } };
  const graph = sketch(["s", map, check, rest, "after"], ["s>m", "m>c", "c>d", "d>after"]);
  const run = startToyRun(graph, {}, { mayComplete: () => true, bytes: Infinity });
  expect(run.types()).toContain("node.completed m#2");
  await expectOneTruth(graph, run.events);
});
