// A peer of the worker protocol that does all its tasks and disturbs on purpose. It collects outcomes, sends them in another order, sends
// each again with the opposite result, and lets another peer send it a third time once it is settled. A scheduler takes the first and must
// answer every other one, and none of those may reach the log.
import { randomUUID } from "node:crypto";
import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { createGrpcClient } from "@pawl/platform/rpc/grpc-client";
import {
  type Assignment,
  type Claim,
  type SchedulerItem,
  WorkRequestSchema,
  WorkerService,
} from "@pawl/proto/pawl/worker/v1/worker_service_pb";
import { z } from "zod";
import { until } from "../support/until.ts";
import { Ledger, type Task } from "./ledger.ts";
import { shuffled, type Random } from "./random.ts";
import { SAID, targetOf, TASK } from "./shape.ts";

type Item = NonNullable<MessageInitShape<typeof WorkRequestSchema>["items"]>[number];

const SLOTS = 64;
/** Renewals are due every few seconds; a beat is a poll of until(). */
const BEATS_PER_RENEWAL = 25;
/** Far longer than a stress. */
const LIFE_MS = 600_000;

const taskSchema = z.object({
  node: z.object({
    config: z
      .object({
        fail: z.boolean().optional(),
        fail_item: z.number().optional(),
        jump: z.object({ back: z.string(), times: z.number(), ahead: z.string() }).optional(),
      })
      .nullish(),
  }),
});
const contextSchema = z.object({ item: z.unknown().optional() });

/** A connected peer. */
export type Peer = {
  /** Says the opposite of what another peer has settled. */
  readonly echo: (task: Task) => void;
  /** Repeats that were answered and changed nothing, of one run. */
  readonly refused: (runId: string) => number;
  /** The same of all runs. */
  readonly refusedCount: () => number;
  /** Outcomes and repeats without an answer yet. */
  readonly unanswered: () => number;
  readonly leave: () => Promise<void>;
};

/** Connects and registers; calls `onSettled` with each task once its first outcome is answered. */
export async function startPeer(
  address: string,
  random: Random,
  onSettled: (task: Task) => void,
): Promise<Peer> {
  const executorId = randomUUID();
  const client = createGrpcClient(WorkerService, address);
  const stream = client.open.work();
  const { promise: registered, resolve } = Promise.withResolvers<void>();
  const ledger = new Ledger();
  let fresh: Task[] = [];
  let echoes: Task[] = [];
  const hear = ({ item }: SchedulerItem): void => {
    if (item.case === "registered") resolve();
    if (item.case === "assignment" && item.value.claim !== undefined)
      fresh.push(taskOf(item.value, item.value.claim));
    if (item.case !== "settled" && item.case !== "claimLost") return;
    const settled = ledger.hear(item.value.claim);
    if (settled !== undefined) onSettled(settled);
  };
  stream.listen({ message: ({ items }) => items.forEach(hear) });
  const say = (...items: readonly Item[]): void =>
    void stream.write(create(WorkRequestSchema, { items: [...items] }));
  say({ item: { case: "register", value: { executorId, nodeTypes: [TASK], slots: SLOTS } } });
  await registered;

  let beats = 0;
  let isOver = false;
  /** Sends the outcomes collected since the last beat. */
  const beat = (): boolean => {
    const items = speech(fresh, echoes, random);
    for (const { task, isEcho } of items) ledger.say(task, isEcho);
    fresh = [];
    echoes = [];
    if (items.length > 0) say(...items.map(({ item }) => item));
    if (beats++ % BEATS_PER_RENEWAL === 0)
      say({ item: { case: "renew", value: { held: ledger.held() } } });
    return isOver;
  };
  const beating = until(beat, { what: "the stress to end", timeoutMs: LIFE_MS });
  return {
    echo: (task) => void echoes.push(task),
    refused: (runId) => ledger.refused(runId),
    refusedCount: () => ledger.refusedCount(),
    unanswered: () => fresh.length + echoes.length + ledger.unanswered(),
    leave: async () => {
      isOver = true;
      await beating;
      say({ item: { case: "goodbye", value: {} } });
      stream.end();
      await stream.closed;
      client.close();
    },
  };
}

type Said = { readonly task: Task; readonly isEcho: boolean; readonly item: Item };

/** First outcomes in any order, one or two repeats of each somewhere behind it, and what other peers have settled. */
function speech(fresh: readonly Task[], echoes: readonly Task[], random: Random): Said[] {
  const said = shuffled(fresh, random).map((task): Said => ({
    task,
    isEcho: false,
    item: outcome(task.claim, !task.fails, true, task.target),
  }));
  for (const task of [...fresh, ...fresh.filter(() => random() < 0.5)]) {
    const first = said.findIndex((each) => each.task === task);
    const at = first + 1 + Math.floor(random() * (said.length - first));
    const isWell = task.fails || random() < 0.5;
    said.splice(at, 0, { task, isEcho: false, item: outcome(task.claim, isWell, false) });
  }
  return said.concat(
    shuffled(echoes, random).map((task) => ({
      task,
      isEcho: true,
      item: outcome(task.claim, task.fails, false),
    })),
  );
}

function taskOf({ nodeJson, contextJson }: Assignment, claim: Claim): Task {
  const { config } = taskSchema.parse(JSON.parse(Buffer.from(nodeJson).toString())).node;
  const { item } = contextSchema.parse(JSON.parse(Buffer.from(contextJson).toString()));
  const isBadItem = config?.fail_item !== undefined && config.fail_item === item;
  const fails = config?.fail === true || isBadItem;
  const { jump } = config ?? {};
  return jump === undefined
    ? { claim, fails }
    : { claim, fails, target: targetOf(jump, claim.iteration) };
}

/** The text that a repeat leaves in the log, should one ever get there. */
export const REPEATED = "said again";

function outcome(claim: Claim, isWell: boolean, isFirst: boolean, target?: string): Item {
  const message = isFirst ? SAID.message : REPEATED;
  const actions =
    target === undefined
      ? []
      : [{ action: { case: "gotoNode" as const, value: { node: target } } }];
  const outputJson = Buffer.from(JSON.stringify({ message }));
  const result = isWell
    ? { case: "completed" as const, value: { outputJson, actions } }
    : { case: "failed" as const, value: { cause: "asked for", message, permanent: true } };
  return { item: { case: "outcome", value: { claim, durationMs: 1n, result } } };
}
