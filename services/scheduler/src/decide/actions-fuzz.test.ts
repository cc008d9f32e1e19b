// Random programs whose handlers ask for all seven actions, also for some that cannot be done, on the real loop and a store in memory. People
// answer, pause and resume; child runs end. After every input the log, its fold, a snapshot, the view of clients and the rows of the store
// agree.

import { create } from "@bufbuild/protobuf";
import { ACTION_TYPES } from "@pawl/core/action/action";
import { parseSavedDefinition } from "@pawl/core/definition/parse";
import { checkLog } from "@pawl/core/log/check";
import { isFinal, type RunEvent, type RunStatus } from "@pawl/core/log/event";
import { executionsOf } from "@pawl/core/log/execution";
import { fold, runStatus } from "@pawl/core/log/fold";
import { mayBecome } from "@pawl/core/log/run-status";
import { readSnapshot, SNAPSHOT_FORMAT, writeSnapshot } from "@pawl/core/log/snapshot";
import type { RunState } from "@pawl/core/log/state";
import { ViewFold } from "@pawl/core/log/view";
import { definitionId, type RunId } from "@pawl/core/name/ids";
import { createMemoryStore } from "@pawl/platform/store/memory/store";
import { OutcomeSchema } from "@pawl/proto/pawl/worker/v1/worker_service_pb";
import { expect, test } from "vitest";
import type { DecideAnswer, NamedClaim } from "../inputs/input.ts";
import { outcomeOf } from "../sessions/wire.ts";
import { connect, createEngine, type Engine, type Store } from "../tick/tick.fixture.ts";
import { drawActions, pick, type Random, remember, seeded, type Sent } from "./actions.fixture.ts";

const PROGRAMS = 300;
const STEPS = 60;
const NODES = ["a", "b", "c", "d", "e"];
const TWICE = { attempts: 2, backoff_ms: 0, jitter: false };
const REFUSED = new Set(["action_invalid", "illegal_transition", "workflow_not_found"]);

/** Five nodes, each behind one or two before it, with a way back, an error edge and a node that tries twice. */
function drawDefinition(random: Random): object {
  const edges = NODES.slice(1).flatMap((target, at) =>
    [...new Set([pick(random, NODES.slice(0, at + 1)), pick(random, NODES.slice(0, at + 1))])].map(
      (source) => ({ source, target }),
    ),
  );
  const back = { source: "e", target: pick(random, NODES.slice(0, 4)), loop: true };
  const nodes = NODES.map((id, at) => ({
    ...{ id, type: "task", join: pick(random, ["all", "any"]) },
    error_handling: pick(random, ["continue", "fail_node"]),
    ...(at === 2 ? { retry: TWICE } : {}),
    ...(at === 1 && random() < 0.3 ? { compensation: { type: "task", retry: TWICE } } : {}),
  }));
  const isBehind = reaches(edges, back.target, "e");
  const loops = isBehind ? [{ ...back, source_handle: "again" }] : [];
  const memory = { list: { merge: "array" } };
  return { max_iterations: 6, memory, nodes, edges: [...edges, ...loops] };
}

function reaches(
  edges: readonly { readonly source: string; readonly target: string }[],
  from: string,
  to: string,
): boolean {
  const found = new Set([from]);
  for (const at of found)
    for (const { source, target } of edges) if (source === at) found.add(target);
  return found.has(to);
}

interface Program {
  readonly store: Store;
  readonly engine: Engine;
  readonly executor: ReturnType<typeof connect>;
  readonly runId: RunId;
  readonly random: Random;
  readonly events: () => readonly RunEvent[];
  readonly state: () => RunState;
}

async function begin(seed: number): Promise<Program> {
  const random = seeded(seed);
  const clock = { now: 1_000_000 };
  const now = (): number => (clock.now += 1);
  const store = createMemoryStore({ now });
  const engine = createEngine(store, now);
  const executor = connect(engine, 4, ["task", "noop"]);
  const parsed = parseSavedDefinition(JSON.stringify(drawDefinition(random)));
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.violations));
  const row = {
    ...{ definitionId: definitionId(crypto.randomUUID()), tenantId: "default", digest: "d" },
    ...{ title: "t", nodeCount: NODES.length, body: parsed.canonicalJson },
  };
  await store.journal.transact((tx) => tx.saveGraphs([row]));
  const child = { nodes: [{ id: "only", type: "noop" }] };
  await store.workflows.create({
    ...{ ...row, definitionId: definitionId(crypto.randomUUID()), workflowId: "child" },
    ...{ body: JSON.stringify(child), nodeCount: 1, requestId: null, requestHash: null },
  });
  const { runId } = await engine.start(row.definitionId);
  const events = (): readonly RunEvent[] => store.view.events(runId);
  const state = (): RunState => fold(runId, parsed.graph, events());
  return { store, engine, executor, runId, random, events, state };
}

const heldIn = (state: RunState) =>
  [...executionsOf(state)].filter(
    ([, , { status, hold }]) => status === "waiting" && hold !== undefined,
  );

/** The log, the fold, a snapshot, the view of clients and the rows say the same. */
async function expectOneTruth({ store, runId, events, state }: Program): Promise<void> {
  const log = events();
  checkLog(log);
  const folded = state();
  const body = writeSnapshot(folded);
  const restored = readSnapshot(runId, folded.graph, { format: SNAPSHOT_FORMAT, body });
  expect(restored && writeSnapshot(restored)).toBe(body);
  const view = new ViewFold();
  for (const event of log) view.add(event);
  expect(view.view().status).toBe(runStatus(folded));
  expect(store.view.run(runId)).toMatchObject({
    ...{ status: runStatus(folded), hasFailures: folded.hasFailures, lastSeq: folded.lastSeq },
  });
  const running = [...executionsOf(folded)].filter(([, , { status }]) => status === "running");
  const leases = store.view.leases().filter((lease) => lease.runId === runId);
  const epochs = running.map(([, , { epoch }]) => epoch);
  expect(new Set(leases.map(({ epoch }) => epoch))).toEqual(new Set(epochs));
  const held = heldIn(folded).flatMap(([, , { hold }]) =>
    hold?.approval === undefined ? [] : [hold.approval.approvalId],
  );
  const open = [];
  for (const approvalId of held) open.push((await store.journal.findApproval(approvalId))?.state);
  expect(open).toEqual(held.map(() => "open"));
}

/** An executor reports a random outcome. Gives the actions if the log has what they wrote. */
async function report(program: Program, claim: NamedClaim, seen: Set<string>): Promise<Sent[]> {
  const { engine, executor, random, events, runId } = program;
  executor.session.letGo(claim);
  if (claim.runId !== runId) {
    await engine.outcome(claim);
    return [];
  }
  const { actions, isImpossible } = drawActions(random, NODES);
  const handle = pick(random, ["", "", "again"]);
  const isLed = actions.some(({ case: kind }) => kind === "gotoNode" || kind === "handoff");
  const wire =
    random() < 0.1
      ? { case: "failed" as const, value: { cause: "provider_error", message: "no" } }
      : {
          case: "completed" as const,
          value: {
            outputJson: Buffer.from('"done"'),
            actions: actions.map((action) => ({ action })),
            ...(isLed ? {} : { handle }),
          },
        };
  const before = events().length;
  const outcome = outcomeOf(create(OutcomeSchema, { result: wire }), before);
  const answer = await engine.outcome(claim, outcome);
  if (answer === "stale") {
    expect(events().length).toBe(before);
    return [];
  }
  const own = events()
    .slice(before)
    .filter(({ nodeId, iteration }) => nodeId === claim.nodeId && iteration === claim.iteration);
  const [first] = own;
  const isWritten = own.some(({ type }) => type === "memory.updated");
  const cause = first !== undefined && "cause" in first.payload ? first.payload.cause : undefined;
  const isRefused = first?.type !== "node.completed" && REFUSED.has(String(cause));
  if (isRefused) expect(isWritten).toBe(false);
  if (wire.case === "completed" && isImpossible) {
    const isFailed =
      isRefused || (first?.type === "node.completed" && first.payload.handle === "error");
    expect(isFailed, JSON.stringify(own)).toBe(true);
    expect(isWritten).toBe(false);
    seen.add("refused");
  }
  if (wire.case === "completed" && !isRefused && !isImpossible)
    for (const { case: kind } of actions) seen.add(String(kind));
  return isWritten && wire.case === "completed" ? actions : [];
}

/** A person answers a random question, or resumes the run. */
async function attend({ engine, runId, random, state }: Program): Promise<boolean> {
  const folded = state();
  const held = heldIn(folded);
  if (held.length > 0) {
    const [nodeIndex, iteration] = pick(random, held);
    const { id: nodeId } = folded.graph.nodes[nodeIndex]?.definition ?? {};
    if (nodeId === undefined) throw new Error("no node");
    const decision = pick(random, ["approve", "approve", "reject"] as const);
    const said = { decision, comment: "", requestId: "", decidedBy: "ada" };
    const answer = await engine.loop.ask<DecideAnswer>((to) => ({
      ...{ kind: "decide", runId, nodeId, iteration, ...said, answer: to },
    }));
    expect(answer).toBe("accepted");
    return true;
  }
  if (folded.status !== "paused") return false;
  await engine.loop.ask((answer) => ({
    ...{ kind: "resume", runId, note: { scope: "run", who: "", reason: "" }, answer },
  }));
  return true;
}

function expectLegal(events: readonly RunEvent[], statuses: Set<string>): void {
  const view = new ViewFold();
  let before: RunStatus = "pending";
  for (const event of events) {
    view.add(event);
    const { status } = view.view();
    if (status !== before) expect(mayBecome(before, status), `${before} to ${status}`).toBe(true);
    statuses.add((before = status));
  }
}

test("random programs of all seven actions have one truth after every input, refused actions change nothing but their node, and every run ends (S2.29, S2.30, S2.35, S2.37, S2.38, S2.39, X5)", async () => {
  const seen = new Set<string>();
  const statuses = new Set<string>();
  for (let seed = 1; seed <= PROGRAMS; seed += 1) {
    const program = await begin(seed);
    const { executor, random, state, runId, events, store } = program;
    const memory = new Map<string, unknown>();
    const claims: NamedClaim[] = [];
    let steps = 0;
    for (; !isFinal(state().status) && steps < STEPS; steps += 1) {
      claims.push(...executor.take());
      const isPerson = claims.length === 0 || random() < 0.2;
      const isAttended = isPerson && (await attend(program));
      const [claim] = isAttended ? [] : claims.splice(Math.floor(random() * claims.length), 1);
      if (claim !== undefined) remember(memory, await report(program, claim, seen));
      else expect(isAttended, `run ${seed} is stuck as ${state().status}`).toBe(true);
      await expectOneTruth(program);
      const kept = [...state().memory].map(([key, { json }]) => [key, JSON.parse(json)]);
      expect(Object.fromEntries(kept)).toEqual(Object.fromEntries(memory));
    }
    expect(isFinal(state().status), `run ${seed} after ${steps} steps`).toBe(true);
    expect(store.view.leases().filter((lease) => lease.runId === runId)).toEqual([]);
    expectLegal(events(), statuses);
  }
  const camel = (type: string): string =>
    type.replaceAll(/_(.)/g, (_, one: string) => one.toUpperCase());
  for (const type of [...ACTION_TYPES.map(camel), "refused"]) expect(seen).toContain(type);
  for (const status of [
    "running",
    "waiting",
    "paused",
    "compensating",
    "completed",
    "failed",
    "cancelled",
  ])
    expect(statuses).toContain(status);
});
