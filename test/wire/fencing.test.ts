// Every item of the worker protocol, sent with a claim that is no longer the lease's, and with the live claim of another executor. The
// scheduler refuses each with ClaimLost, and the log, the leases, the effects and the queue do not change by a byte. Then the calls of
// people, which carry no epoch.
import { EffectClass, EffectState, type Claim } from "@pawl/proto/pawl/worker/v1/worker_service_pb";
import { afterEach, expect, test } from "vitest";
import { checkInvariants } from "../support/invariants.ts";
import { CLAIM_DOORS, DOOR_NAMES } from "./claim-doors.ts";
import { completed, connectExecutor, type FakeExecutor, TASK } from "./fake-executor.ts";
import { useStage } from "./stage.ts";

const WORKFLOW = "fenced";

// Leases so long that the scheduler takes none back during a test.
const stage = useStage({ env: { PAWL_LEASE_MS: "60000" } }, async ({ door }) => {
  const nodes = [
    { id: "start", type: "start" },
    { id: "a", type: TASK },
  ];
  const definition = { text: JSON.stringify({ nodes, edges: [{ source: "start", target: "a" }] }) };
  await door("gRPC").workflows.createWorkflow({ workflowId: WORKFLOW, definition });
});

const open: FakeExecutor[] = [];
afterEach(async () => {
  for (const executor of open.splice(0)) await executor.leave();
});

async function registered(): Promise<FakeExecutor> {
  const executor = connectExecutor(`127.0.0.1:${stage().cluster.schedulers[0]?.port}`);
  open.push(executor);
  await executor.register();
  return executor;
}

/** Everything the engine has about a run, as text. */
async function everything(runId: string): Promise<string> {
  const { rows } = await stage().db.query<{ all: string }>(
    `select jsonb_build_object(
       'run', (select jsonb_agg(to_jsonb(r)) from pawl.runs r where run_id = $1),
       'log', (select jsonb_agg(to_jsonb(e) order by seq) from pawl.run_events e where run_id = $1),
       'leases', (select jsonb_agg(to_jsonb(l)) from pawl.leases l where run_id = $1),
       'effects', (select jsonb_agg(to_jsonb(f) order by name) from pawl.effects f where run_id = $1),
       'jobs', (select jsonb_agg(to_jsonb(j)) from pgboss.job j where data->>'r' = $1::text)
     )::text as all`,
    [runId],
  );
  return rows[0]?.all ?? "";
}

const begin = (claim: Claim) =>
  ({
    case: "effectBegin",
    value: { claim, name: "charge", class: EffectClass.IDEMPOTENT },
  }) as never;

/** A run whose task was begun under a claim that its executor then lost to itself, under a newer epoch. */
async function lostClaim(
  executor: FakeExecutor,
): Promise<{ readonly runId: string; readonly stale: Claim; readonly live: Claim }> {
  const { run } = await stage().door("gRPC").runs.startRun({ workflowId: WORKFLOW });
  const runId = run?.runId ?? "";
  const { claim: stale } = await executor.assigned(runId);
  executor.say(begin(stale));
  await executor.hear("effectBegun");
  executor.say({ case: "release", value: { claim: stale } } as never);
  await executor.hear("assignment", 2);
  const { claim: live } = await executor.assigned(runId);
  expect(live.epoch).toBeGreaterThan(stale.epoch);
  return { runId, stale, live };
}

test.each(DOOR_NAMES)(
  "%s under an epoch that was superseded is a lost claim and changes nothing (S0.40, S0.42, S0.43, S0.44)",
  async (door) => {
    const executor = await registered();
    const { runId, stale, live } = await lostClaim(executor);
    const before = await everything(runId);
    executor.say(CLAIM_DOORS[door](stale));
    expect((await executor.hear("claimLost")).claim).toEqual(stale);
    expect(await everything(runId)).toBe(before);
    // The live claim was not harmed.
    executor.say(completed(live, '"mine"'));
    await executor.hear("settled", 2);
    expect(executor.heard("claimLost")).toHaveLength(1);
    expect(await checkInvariants(stage().cluster.databaseUrl, [runId])).toEqual([]);
  },
);

/** A second executor that is registered and has no room, so that it is given nothing. */
async function stranger(more: { readonly held?: Claim[] } = {}): Promise<FakeExecutor> {
  const executor = connectExecutor(`127.0.0.1:${stage().cluster.schedulers[0]?.port}`);
  open.push(executor);
  await executor.register({ slots: 0, ...more });
  return executor;
}

/** A run whose task an executor has begun to work on. */
async function liveClaim(executor: FakeExecutor) {
  const { run } = await stage().door("gRPC").runs.startRun({ workflowId: WORKFLOW });
  const runId = run?.runId ?? "";
  const { claim } = await executor.assigned(runId);
  executor.say(begin(claim));
  await executor.hear("effectBegun");
  return { runId, claim };
}

test.each(DOOR_NAMES)(
  "%s of an executor that names the live claim of another one is a lost claim and changes nothing (S0.40, S0.43)",
  async (door) => {
    const owner = await registered();
    const { runId, claim } = await liveClaim(owner);
    const other = await stranger();
    const before = await everything(runId);
    other.say(CLAIM_DOORS[door](claim));
    expect((await other.hear("claimLost")).claim).toEqual(claim);
    expect(await everything(runId)).toBe(before);
    owner.say(completed(claim, '"mine"'));
    await owner.hear("settled");
    expect(owner.heard("claimLost")).toEqual([]);
    expect(await checkInvariants(stage().cluster.databaseUrl, [runId])).toEqual([]);
  },
);

test("an executor that registers with the live claim of another one does not hold it", async () => {
  const owner = await registered();
  const { runId, claim } = await liveClaim(owner);
  const before = await everything(runId);
  const other = await stranger({ held: [claim] });
  expect((await other.hear("claimLost")).claim).toEqual(claim);
  // Leaving gives nothing back that was not its own.
  await other.leave();
  open.splice(open.indexOf(other), 1);
  expect(await everything(runId)).toBe(before);
  owner.say(completed(claim, '"mine"'));
  await owner.hear("settled");
});

test("every door is closed to the claims of a run that was cancelled (S0.44, X22)", async () => {
  const executor = await registered();
  const { run } = await stage().door("gRPC").runs.startRun({ workflowId: WORKFLOW });
  const runId = run?.runId ?? "";
  const { claim } = await executor.assigned(runId);
  await stage().door("gRPC").runs.cancelRun({ runId });
  await executor.hear("cancel");
  const before = await everything(runId);
  // A renewal needs no answer: Cancel was one.
  const doors = DOOR_NAMES.filter((door) => door !== "renew");
  executor.say(CLAIM_DOORS.renew(claim));
  for (const [index, door] of doors.entries()) {
    executor.say(CLAIM_DOORS[door](claim));
    expect((await executor.hear("claimLost", index + 1)).claim, door).toEqual(claim);
  }
  expect(await everything(runId)).toBe(before);
});

test("items repeated for a claim that ended with its own outcome are acknowledged, and change nothing", async () => {
  const executor = await registered();
  const { run } = await stage().door("gRPC").runs.startRun({ workflowId: WORKFLOW });
  const runId = run?.runId ?? "";
  const { claim } = await executor.assigned(runId);
  executor.say(completed(claim));
  await executor.hear("settled");
  const before = await everything(runId);
  const repeated = ["delta", "log", "effectBegin", "effectCommit", "extend", "outcome"] as const;
  for (const [index, door] of repeated.entries()) {
    executor.say(CLAIM_DOORS[door](claim));
    expect((await executor.hear("settled", index + 2)).claim, door).toEqual(claim);
  }
  expect(executor.heard("claimLost")).toEqual([]);
  expect(await everything(runId)).toBe(before);
});

test("every later claim gets an effect's first result, however often it asks (S0.38)", async () => {
  const executor = await registered();
  const { runId, live } = await lostClaim(executor);
  executor.say(begin(live), begin(live));
  expect((await executor.hear("effectBegun", 2)).state).toBe(EffectState.BEGUN_BEFORE);
  expect((await executor.hear("effectBegun", 3)).state).toBe(EffectState.BEGUN_BEFORE);
  const commit = (text: string, name = "charge") =>
    ({
      case: "effectCommit",
      value: { claim: live, name, resultJson: Buffer.from(text) },
    }) as never;
  executor.say(commit('{"id":1}'), commit('{"id":2}'));
  expect((await executor.hear("effectCommitted", 2)).state).toBe(EffectState.COMMITTED);
  // The ledger takes no effect that was never begun, and no result that is not JSON.
  executor.say(commit("1", "other"), commit("{", "charge"), commit("1", "no name"));
  await executor.hear("effectCommitted", 5);
  const states = executor.heard("effectCommitted").map((each) => each?.state);
  expect(states.slice(2)).toEqual(Array<EffectState>(3).fill(EffectState.REFUSED));
  executor.say({ case: "release", value: { claim: live } } as never);
  await executor.hear("assignment", 3);
  const { claim: newest } = await executor.assigned(runId);
  executor.say(begin(newest));
  const told = await executor.hear("effectBegun", 4);
  expect(told.state).toBe(EffectState.COMMITTED);
  expect(JSON.parse(Buffer.from(told.resultJson).toString())).toEqual({ id: 1 });
  executor.say({ case: "extend", value: { claim: newest, extendMs: 1_000n } } as never);
  expect((await executor.hear("extended")).claim).toEqual(newest);
  executor.say(completed(newest));
  await executor.hear("settled", 3);
});

test("a person who answers or cancels an ended run changes nothing (S0.43)", async () => {
  const executor = await registered();
  const { run } = await stage().door("gRPC").runs.startRun({ workflowId: WORKFLOW });
  const runId = run?.runId ?? "";
  const { claim } = await executor.assigned(runId);
  executor.say(completed(claim));
  await executor.hear("settled");
  const before = await everything(runId);
  const { runs } = stage().door("gRPC");
  await expect(runs.decideNode({ runId, nodeId: "a", decision: 1 })).rejects.toThrow();
  await expect(runs.cancelRun({ runId })).rejects.toThrow("nothing was changed");
  expect(await everything(runId)).toBe(before);
});
