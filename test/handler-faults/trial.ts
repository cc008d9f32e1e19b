// One trial: a run whose handler makes one effect, a fault at one point of its way, and the verdict on what is left afterwards.
import { runStatusName, type PawlClient } from "@pawl/client";
import { EffectState } from "@pawl/proto/pawl/v1/effect_pb";
import { graph } from "../flow/graph.ts";
import { until, within } from "../support/until.ts";
import type { Held, Point } from "./receiver.ts";
import type { Lane, World } from "./world.ts";
import type { HandlerProcess } from "./handler-process.ts";

const STUCK_MS = 60_000;

export type EffectClass = "idempotent" | "at_most_once";

/** What a trial is about. */
export type Plan = {
  readonly id: string;
  readonly point: Point;
  readonly effect: EffectClass;
  /** The function runs in a thread, or on the event loop. */
  readonly style: "plain" | "async";
};

/** A trial whose handler is at its point. */
export type Trial = Plan & {
  readonly runId: string;
  readonly held: Held;
  readonly process: HandlerProcess;
  /** Waits until the run has ended. */
  readonly ended: () => Promise<void>;
  /** Waits until the function of the struck process has returned. */
  readonly returned: () => Promise<void>;
};

export type Kind = "completed" | "effect unknown" | "lost" | "doubled" | "stuck";

export type Verdict = { readonly plan: Plan; readonly kind: Kind; readonly detail: string };

/**
 * The ends that a plan allows. Between the beginning of an effect and the record of its result, only the receiver knows about an effect at
 * most once. Every other effect is committed exactly once, and its run completes.
 */
const allowedEnds = ({ effect, point }: Plan): readonly Kind[] =>
  effect === "idempotent" || point === "before" || point === "after"
    ? ["completed"]
    : ["completed", "effect unknown"];

/** Whether a trial ended as its plan demands. */
export const isAllowed = ({ plan, kind }: Verdict): boolean => allowedEnds(plan).includes(kind);

/** Starts a run in a lane and waits until its handler is at the point. */
export async function beginTrial(world: World, lane: Lane, plan: Plan): Promise<Trial> {
  const { client, receiver } = world;
  const reached = receiver.expect(plan.id, plan.point);
  const work = { type: `fault.${plan.style}.${lane.name}` };
  const input = { trial: plan.id, effect: plan.effect };
  const { run } = await client.runs.test(graph(["work > end"], { work }), { input });
  const held = await within(reached, { timeoutMs: STUCK_MS, what: `${plan.id} at ${plan.point}` });
  const process = lane.processes.find(({ name }) => name === held.process);
  if (process === undefined) throw new Error(`lane ${lane.name} has no process ${held.process}`);
  return {
    ...plan,
    ...{ runId: run.runId, held, process },
    ended: () => endOf(client, run.runId),
    returned: async () => {
      const what = `the function of ${plan.id} in process ${held.process}`;
      await until(() => receiver.hasEnded(plan.id, held.process), { what });
    },
  };
}

async function endOf(client: PawlClient, runId: string): Promise<void> {
  const what = `the end of run ${runId}`;
  await within(client.runs.wait(runId), { timeoutMs: STUCK_MS, what });
}

/** Judges a trial by the run, the ledger and the receiver. */
export async function judge({ client, receiver }: World, trial: Trial): Promise<Verdict> {
  const { run } = await client.runs.get(trial.runId);
  const { effects } = await client.runs.effects(trial.runId);
  const committed = effects.filter(({ state }) => state === EffectState.COMMITTED).length;
  const deliveries = receiver.deliveries(trial.id);
  const counts = [...deliveries.values()];
  const status = runStatusName(run.status);
  const causes = status === "failed" ? await causesOf(client, trial.runId) : [];
  const detail = `${trial.id}, run ${trial.runId}: ${status} ${causes.join(" ")} ${run.errorMessage}, ${committed} committed, deliveries ${JSON.stringify([...deliveries])}`;
  const verdict = (kind: Verdict["kind"]): Verdict => ({ plan: trial, kind, detail });

  const isRepeated = trial.effect === "at_most_once" && counts.some((count) => count > 1);
  if (deliveries.size > 1 || effects.length > 1 || isRepeated) return verdict("doubled");
  if (status === "completed" && committed === 1 && deliveries.size === 1)
    return verdict("completed");
  if (status !== "completed" && status !== "failed") return verdict("stuck");
  const isUnknown = status === "failed" && committed === 0 && causes.includes("effect_unknown");
  return verdict(isUnknown ? "effect unknown" : "lost");
}

/** Why the nodes of an ended run failed. */
async function causesOf(client: PawlClient, runId: string): Promise<string[]> {
  const causes: string[] = [];
  for await (const { fact } of client.watch(runId))
    if (fact.case === "nodeFailed") causes.push(fact.value.cause);
  return causes;
}
