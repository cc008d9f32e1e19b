import { expect, test } from "vitest";
import {
  completed,
  EXECUTOR,
  nameOf,
  sketch,
  startToyRun,
  type ToyRun,
} from "../../test/toy-run.ts";
import { LIMITS } from "../data/limits.ts";
import { apply, newRunState } from "../log/fold.ts";
import { approvalId, nodeId, runId } from "../name/ids.ts";
import { beforeFact, type Consequence, consequences } from "./consequences.ts";
import { onApprovalDue, onDecision } from "./decide.ts";
import { onOverdue } from "./overdue.ts";
import { RUN_PLACE } from "./place.ts";
import { onCancel } from "./stop.ts";

const CHILD = runId("0199a000-0000-7000-8000-0000000000c1");
const QUESTION = approvalId("0199a000-0000-7000-8000-0000000000a1");

interface Followed {
  readonly fact: string;
  readonly found: readonly Consequence[];
}

/** The consequences of every event of a log that has any. */
function follow({ events, state: { graph } }: Pick<ToyRun, "events" | "state">): Followed[] {
  const state = newRunState(runId(events[0]?.runId ?? ""), graph);
  return events.flatMap((event) => {
    const before = beforeFact(state, event);
    apply(state, event);
    const found = consequences(before, event, state);
    const fact = `${event.type} ${nameOf(event)}`.trim();
    return found.length === 0 ? [] : [{ fact, found }];
  });
}

const kinds = (run: ToyRun): string[] =>
  follow(run).map(({ fact, found }) => `${fact}: ${found.map(({ kind }) => kind).join(", ")}`);

const last = (run: ToyRun): Consequence | undefined => follow(run).at(-1)?.found.at(-1);

const held = (reason: string) =>
  ({
    kind: "held",
    reason,
    phase: "output",
    durationMs: 3,
    outputJson: '{"order":7}',
    approval: { approvalId: QUESTION, message: "Ship it?", assignees: ["ops"], deadlineMs: 5_000 },
  }) as const;

/** A run whose approval `a` is open. */
function asking(reason = "approval"): ToyRun {
  const node = { id: "a", type: "approval", config: { message: "Ship it?" } };
  const run = startToyRun(sketch(["s", node], ["s>a"]));
  run.complete("s");
  run.claim("a");
  run.report("a", held(reason));
  return run;
}

test("a claimed node is placed when it is queued, and its claim closes when it ends", () => {
  const run = startToyRun(sketch(["s", "a"], ["s>a"]));
  run.complete("s");
  run.complete("a");
  expect(kinds(run)).toEqual([
    "node.queued s: place",
    "node.completed s: close_claim",
    "node.queued a: place",
    "node.completed a: close_claim",
  ]);
  expect(last(run)).toMatchObject({ nodeIndex: run.index("a"), isLost: false });
});

test("nothing follows from the facts of glue nodes that the planner completes", () => {
  const graph = sketch(["s", { id: "e", type: "end" }], ["s>e"]);
  const budget = { mayComplete: () => true, bytes: LIMITS.inlineBytes };
  const run = startToyRun(graph, null, budget);
  expect(run.state.status).toBe("completed");
  expect(follow(run)).toEqual([]);
});

test("a claim that was lost or is overdue is taken from its executor; a cancelled claim is not", () => {
  const lost = startToyRun(sketch(["s"], []));
  lost.claim("s");
  lost.lose("s");
  expect(kinds(lost)).toContain("run.recovered s: close_claim");
  expect(follow(lost).find(({ fact }) => fact === "run.recovered s")?.found).toMatchObject([
    { isLost: true, epoch: 3 },
  ]);
  const overdue = startToyRun(sketch(["s", { id: "a", timeout_ms: 10 }], ["s>a"]));
  overdue.complete("s");
  const epoch = overdue.claim("a");
  const claim = { nodeIndex: overdue.index("a"), iteration: 0, epoch, executorId: EXECUTOR };
  const result = onOverdue(overdue.state, { ...claim, now: overdue.now + 60_000 });
  if (result.kind === "accepted") result.facts.forEach(overdue.append);
  expect(last(overdue)).toMatchObject({ kind: "close_claim", isLost: true });
  const cancelled = startToyRun(sketch(["s"], []));
  cancelled.claim("s");
  cancel(cancelled);
  expect(kinds(cancelled)).toContain("node.cancelled s: close_claim");
  expect(follow(cancelled).find(({ fact }) => fact === "node.cancelled s")?.found).toMatchObject([
    { isLost: false },
  ]);
});

test("a queued node that is cancelled loses the job that its queueing made", () => {
  const run = startToyRun(sketch(["s"], []));
  cancel(run);
  expect(kinds(run)).toEqual(["node.queued s: place", "node.cancelled s: drop_job"]);
  expect(last(run)).toMatchObject({ queuedSeq: 2, nodeIndex: 0 });
});

test("a node with limits counts its start and frees its slots when it ends or waits for a retry", () => {
  const node = {
    id: "a",
    concurrency: { key: "k", limit: 1 },
    rate: { key: "k", limit: 1, per_ms: 1_000 },
    retry: { attempts: 2 },
  };
  const run = startToyRun(sketch(["s", node], ["s>a"]));
  run.complete("s");
  run.fail("a");
  run.now += 3_600_000;
  run.plan();
  cancel(run);
  expect(kinds(run).filter((line) => line.includes(" a:"))).toEqual([
    "node.queued a: place",
    "node.started a: count_start",
    "node.retried a: free_slots, close_claim",
    "node.queued a: place",
    "node.cancelled a: free_slots, drop_job",
  ]);
});

test("a run with limits asks for its slots, counts its start, and frees the slots at its end", () => {
  const run = startToyRun(sketch(["s"], []));
  const [started, ...others] = run.events;
  if (started?.type !== "run.started") throw new Error("the log begins with run.started");
  const slot = { key: "k", limit: 1, scope: "workflow" } as const;
  const limited = { ...started, payload: { ...started.payload, slot } };
  const begun = {
    ...RUN_PLACE,
    type: "run.status.changed",
    payload: { from: "pending", to: "running" },
  } as const;
  const ended = {
    ...RUN_PLACE,
    type: "run.cancelled",
    payload: { reason: "", requestId: "" },
  } as const;
  const at = { runId: started.runId, at: run.now };
  const events = [limited, { ...begun, ...at, seq: 2 }, { ...ended, ...at, seq: 3 }];
  expect(others).not.toEqual([]);
  expect(follow({ state: run.state, events }).map(({ found }) => found)).toMatchObject([
    [{ kind: "ask_run_slots" }],
    [{ kind: "count_start", limits: { slot } }],
    [{ kind: "free_slots", limits: { slot } }],
  ]);
});

test("an approval opens with its question, and closes with the answer, the deadline or the end of its node", () => {
  const run = asking();
  expect(last(run)).toEqual({
    kind: "close_claim",
    nodeIndex: 1,
    epoch: run.execution("a").hold?.epoch,
    isLost: false,
  });
  expect(follow(run).at(-1)?.found[0]).toEqual({
    kind: "open_approval",
    question: {
      approvalId: QUESTION,
      reason: "approval",
      message: "Ship it?",
      detailsJson: '{"order":7}',
      assignees: ["ops"],
      deadlineMs: 5_000,
    },
  });
  const place = { nodeIndex: run.index("a"), iteration: 0, now: run.now };
  const said = { comment: "fine", requestId: "", decidedBy: "ada", responseJson: "1" };
  const decided = onDecision(run.state, { ...place, ...said, decision: "approve" });
  if (decided.kind === "accepted") decided.facts.forEach(run.append);
  expect(follow(run).find(({ fact }) => fact === "node.decided a")?.found).toEqual([
    {
      kind: "close_approval",
      answer: {
        approvalId: QUESTION,
        state: "approved",
        decidedBy: "ada",
        comment: "fine",
        responseJson: "1",
      },
    },
  ]);
  const late = asking();
  const due = onApprovalDue(late.state, { ...place, approvalId: QUESTION, now: late.now + 5_000 });
  if (due.kind === "accepted") due.facts.forEach(late.append);
  expect(follow(late).find(({ fact }) => fact === "node.decided a")?.found).toMatchObject([
    { answer: { state: "timed_out" } },
  ]);
  const stopped = asking();
  cancel(stopped);
  expect(last(stopped)).toMatchObject({ kind: "close_approval", answer: { state: "cancelled" } });
});

test("a handler that writes the memory beside its question keeps the question open (S2.37)", () => {
  const run = asking();
  const written = { type: "memory.updated", payload: { keys: ["n"] }, value: '{"n":1}' } as const;
  run.append({ nodeId: nodeId("a"), iteration: 0, attempt: 1, epoch: 0, ...written });
  expect(run.node("a").status).toBe("waiting");
  expect(follow(run).find(({ fact }) => fact === "memory.updated a")?.found ?? []).toEqual([]);
});

test("the question about what moderation holds back does not show it", () => {
  const [opened] = follow(asking("moderation_hold")).at(-1)?.found ?? [];
  expect(opened).toMatchObject({ question: { reason: "moderation_hold", detailsJson: null } });
});

test("a cancelled node cancels its child run, and a child run that ends tells its parent", () => {
  const node = { id: "n", type: "subworkflow", config: { workflow_id: "other" } };
  const run = startToyRun(sketch(["s", node], ["s>n"]));
  run.complete("s");
  run.claim("n");
  const asked = { childRunId: CHILD, workflowId: "other", version: 0, inputJson: "{}" };
  run.report("n", { kind: "child_run", ...asked, durationMs: 1 });
  cancel(run);
  expect(follow(run).at(-1)?.found).toEqual([
    { kind: "cancel_child", runId: CHILD, reason: "no longer wanted", stopsUndoing: false },
  ]);
  const child = startToyRun(sketch(["s"], []));
  child.claim("s");
  child.report("s", completed());
  const parent = { runId: run.state.runId, nodeId: nodeIdOf(run), iteration: 0 };
  const events = child.events.map((event) =>
    event.type === "run.started" ? { ...event, payload: { ...event.payload, parent } } : event,
  );
  expect(follow({ state: child.state, events }).at(-1)).toEqual({
    fact: "run.completed",
    found: [{ kind: "tell_parent" }],
  });
});

function cancel(run: ToyRun): void {
  const result = onCancel(run.state, { reason: "no longer wanted", requestId: "", now: 0 });
  if (result.kind === "accepted") result.facts.forEach(run.append);
}

function nodeIdOf(run: ToyRun) {
  const id = run.state.graph.nodes[run.index("n")]?.definition.id;
  if (id === undefined) throw new Error("there is no node n");
  return id;
}
