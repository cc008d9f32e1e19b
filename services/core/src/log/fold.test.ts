import { expect, test } from "vitest";
import { EXECUTOR, RUN, sketch, startToyRun } from "../../test/toy-run.ts";
import { EngineError } from "../fault/engine-error.ts";
import { nodeId } from "../name/ids.ts";
import type { Fact, LoggedFact } from "./event.ts";
import { edgeEffect } from "./edge-effect.ts";
import { apply, fold, newRunState } from "./fold.ts";

const at = (fact: Fact, seq: number): LoggedFact => ({ ...fact, seq, at: 1_000 + seq });
const place = (id: string, attempt = 1, epoch = 0) => ({
  nodeId: id === "" ? ("" as const) : nodeId(id),
  iteration: 0,
  attempt,
  epoch,
});

test("an empty log is a pending run of pending nodes", () => {
  const state = newRunState(RUN, sketch(["a", "b"], ["a>b"]));
  expect(state.status).toBe("pending");
  expect(state.nodes.map((node) => node.status)).toEqual(["pending", "pending"]);
  expect(state.unsettledCount).toBe(2);
});

test("run.started carries the input and puts the roots on the frontier (S1.10, S1.13, S3.9)", () => {
  const run = startToyRun(sketch(["a", "b", "c"], ["a>b"]), { name: "x" });
  expect(run.state.input).toBe('{"name":"x"}');
  expect(run.state.status).toBe("running");
  expect(run.types()).toEqual(["run.started", "node.queued a", "node.queued c"]);
});

test("a claim's epoch is the seq of its node.started (S0.41, X2)", () => {
  const run = startToyRun(sketch(["a"], []));
  const epoch = run.claim("a");
  expect(epoch).toBe(run.events.at(-1)?.seq);
  expect(run.node("a")).toMatchObject({ status: "running", epoch, attempt: 1 });
});

test("an unnumbered node.started takes its own seq as epoch", () => {
  const state = newRunState(RUN, sketch(["a"], []));
  apply(state, at({ ...place("a"), type: "node.started", payload: { executorId: EXECUTOR } }, 7));
  expect(state.nodes[0]?.epoch).toBe(7);
});

test("a completed node keeps its output, handle and release time (S3.23, S3.29)", () => {
  const run = startToyRun(sketch(["a", "b"], ["a>b"]));
  run.complete("a", { x: 1 }, { handle: "left", queueDelayMs: 500 });
  expect(run.node("a")).toMatchObject({
    status: "completed",
    output: '{"x":1}',
    outputBytes: 7,
    handle: "left",
    releaseAt: run.now + 500,
  });
});

test("later facts win over earlier ones, in log order (S3.14)", () => {
  const run = startToyRun(sketch([{ id: "a", retry: { attempts: 2 } }], []));
  run.fail("a");
  expect(run.node("a")).toMatchObject({
    status: "queued",
    attempt: 2,
    message: "it broke: provider_error",
  });
  run.complete("a", "second");
  expect(run.node("a")).toMatchObject({
    status: "completed",
    output: '"second"',
    message: undefined,
  });
});

test("being queued adds nothing to what nodes can read (S3.16)", () => {
  const run = startToyRun(sketch([{ id: "a", output_variable: "x" }, "b"], ["a>b"]));
  expect(run.node("a").status).toBe("queued");
  expect(run.state.variables).toEqual([]);
});

test("streamed facts move the cursor and nothing else (S3.2, X20)", () => {
  const run = startToyRun(sketch(["a"], []));
  const epoch = run.claim("a");
  const before = structuredClone({ ...run.state, graph: null });
  run.append({
    ...place("a", 1, epoch),
    type: "node.stream.delta",
    payload: { deltaIndex: 0, text: "hi" },
  });
  run.append({
    ...place("a", 1, epoch),
    type: "node.log",
    payload: { logIndex: 0, level: "info", message: "m" },
  });
  expect({ ...run.state, graph: null }).toEqual({ ...before, lastSeq: before.lastSeq + 2 });
});

test("gates and metadata are facts of record that change no status", () => {
  const run = startToyRun(sketch(["a"], []));
  const before = structuredClone({ ...run.state, graph: null });
  run.append({ ...place("a"), type: "moderation.flagged", payload: { phase: "input" } });
  run.append({ ...place("a"), type: "contract.violated", payload: { phase: "output" } });
  run.append({ ...place("", 0), type: "run.metadata.set", payload: {} });
  expect({ ...run.state, graph: null }).toEqual({ ...before, lastSeq: before.lastSeq + 3 });
});

test("a blocked node waits, and a run may change status by itself (X28)", () => {
  const run = startToyRun(sketch(["a", "b"], ["a>b"]));
  run.append({
    ...place("a"),
    type: "node.blocked",
    payload: { reason: "approval", phase: "input", durationMs: 0 },
  });
  expect(run.node("a").status).toBe("waiting");
  run.append({
    ...place("", 0),
    type: "run.status.changed",
    payload: { from: "running", to: "waiting" },
  });
  expect(run.state.status).toBe("waiting");
});

test("only a settled node can be invalidated, and only its present round can move (S1.48)", () => {
  const run = startToyRun(sketch(["a", "b"], ["a>b"]));
  const invalidate = (): void =>
    run.append({ ...place("a"), type: "node.invalidated", payload: { reason: "loop" } });
  expect(invalidate).toThrow("not settled");
  run.complete("a");
  invalidate();
  expect(run.node("a")).toMatchObject({ status: "pending", base: 1, round: 1, output: undefined });
  expect(() => run.append({ ...place("a"), attempt: 1, type: "node.queued", payload: {} })).toThrow(
    "a round that is over",
  );
});

test("an edge is taken, failed or untaken by how its source ended", () => {
  const ended = (
    status: "completed" | "failed" | "timed_out" | "cancelled" | "skipped",
    handle?: string,
  ) => ({
    status,
    handle,
  });
  expect(edgeEffect(ended("completed"), { handle: null })).toBe("taken");
  expect(edgeEffect(ended("completed", "a"), { handle: null })).toBe("taken");
  expect(edgeEffect(ended("completed", "error"), { handle: null })).toBe("untaken");
  expect(edgeEffect(ended("completed", "a"), { handle: "a" })).toBe("taken");
  expect(edgeEffect(ended("completed", "a"), { handle: "b" })).toBe("untaken");
  expect(edgeEffect(ended("completed"), { handle: "b" })).toBe("untaken");
  expect(edgeEffect(ended("skipped"), { handle: null })).toBe("untaken");
  for (const status of ["failed", "timed_out", "cancelled"] as const)
    expect(edgeEffect(ended(status), { handle: null })).toBe("failed");
});

test("an unknown node or a second settling is corruption, not a crash", () => {
  const graph = sketch(["a"], []);
  const skipped: Fact = {
    ...place("a", 0),
    type: "node.skipped",
    payload: { reason: "untaken_branch" },
  };
  const stranger: Fact = { ...place("zz"), type: "node.queued", payload: {} };
  const foldOf =
    (...facts: Fact[]) =>
    () =>
      fold(
        RUN,
        graph,
        facts.map((fact, index) => at(fact, index + 1)),
      );
  for (const corrupt of [foldOf(stranger), foldOf(skipped, skipped)]) {
    expect(corrupt).toThrow(EngineError);
    expect(corrupt).toThrow(/^event [12]/);
  }
});
