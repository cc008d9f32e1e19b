// A peer of the worker protocol that does the tasks of the dump's runs: in the old build it holds, fails or forgets some, in the new
// build it completes all.

import { randomUUID } from "node:crypto";
import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { createGrpcClient } from "@pawl/platform/rpc/grpc-client";
import {
  type Assignment,
  type Claim,
  type EffectBegun,
  EffectClass,
  EffectState,
  type NodeTypeDescriptorSchema,
  type RegisterSchema,
  type SchedulerItem,
  WorkRequestSchema,
  WorkerService,
} from "@pawl/proto/pawl/worker/v1/worker_service_pb";
import { z } from "zod";
import { until } from "../support/until.ts";

type Item = NonNullable<MessageInitShape<typeof WorkRequestSchema>["items"]>[number];

const EFFECT = "charge";
/** Renewals are due every half second; a beat is a poll of until(). */
const BEATS_PER_RENEWAL = 20;
/** Far longer than making or finishing the runs takes. */
const LIFE_MS = 600_000;

const nodeSchema = z.object({
  node: z.object({
    config: z
      .object({
        hold_from: z.number().optional(),
        fail_first: z.boolean().optional(),
        effect: z.boolean().optional(),
      })
      .nullish(),
  }),
});
const contextSchema = z.object({ input: z.object({ scene: z.string().optional() }).nullish() });

/** The facts that decide the fate of a task. */
export type Task = {
  readonly nodeType: string;
  readonly scene: string | undefined;
  readonly iteration: number;
  readonly attempt: number;
  readonly config: z.infer<typeof nodeSchema>["node"]["config"];
};

export type Fate = "complete" | "hold" | "fail";

type PeerOptions = {
  readonly nodeTypes: readonly string[];
  /** What it tells of its node types. */
  readonly descriptors?: MessageInitShape<typeof NodeTypeDescriptorSchema>[];
  readonly token?: string;
  readonly output: unknown;
  readonly fate: (task: Task) => Fate;
};

type Peer = {
  /** Assignments so far. */
  readonly taken: () => number;
  /** Takes no more tasks and keeps those it has. */
  readonly rest: () => void;
  /** Breaks the connection without a goodbye, as a killed process would. */
  readonly vanish: () => Promise<void>;
  /** Says goodbye and hangs up. */
  readonly leave: () => Promise<void>;
};

/** Connects and registers. */
export async function startPeer(address: string, options: PeerOptions): Promise<Peer> {
  const client = createGrpcClient(WorkerService, address);
  const stream = client.open.work();
  const { promise: registered, resolve } = Promise.withResolvers<void>();
  const tasks = new Map<string, Assignment>();
  let [taken, beats, isOver] = [0, 0, false];
  const say = (...items: readonly Item[]): void =>
    void stream.write(create(WorkRequestSchema, { items: [...items] }));
  const answer = ({ item }: SchedulerItem): readonly Item[] => {
    if (item.case === "registered") resolve();
    if (item.case === "settled" || item.case === "claimLost") tasks.delete(keyOf(item.value.claim));
    if (item.case === "effectBegun") return [afterBegin(item.value, options.output)];
    if (item.case !== "assignment") return [];
    taken += 1;
    tasks.set(keyOf(item.value.claim), item.value);
    return begin(item.value, options);
  };
  stream.listen({
    message: ({ items }) => {
      const answers = items.flatMap(answer);
      if (answers.length > 0) say(...answers);
    },
  });
  const { nodeTypes, token = "", descriptors = [] } = options;
  const register = { executorId: randomUUID(), nodeTypes: [...nodeTypes], descriptors, token };
  const registerWith = (slots: number): void => {
    const value: MessageInitShape<typeof RegisterSchema> = { ...register, slots };
    say({ item: { case: "register", value } });
  };
  registerWith(64);
  await registered;
  const beat = (): boolean => {
    const held = [...tasks.values()].flatMap(({ claim }) => (claim === undefined ? [] : [claim]));
    if (beats++ % BEATS_PER_RENEWAL === 0) say({ item: { case: "renew", value: { held } } });
    return isOver;
  };
  const beating = until(beat, { what: "the peer to leave", timeoutMs: LIFE_MS });
  const end = async (hangUp: () => void): Promise<void> => {
    isOver = true;
    await beating;
    hangUp();
    await stream.closed;
    client.close();
  };
  return {
    taken: () => taken,
    rest: () => registerWith(0),
    vanish: () => end(() => stream.fail(new Error("vanished"))),
    leave: () =>
      end(() => {
        say({ item: { case: "goodbye", value: {} } });
        stream.end();
      }),
  };
}

/** The peer's answer to an assignment: an outcome, the beginning of an effect, or nothing. */
function begin(assignment: Assignment, { fate, output }: PeerOptions): readonly Item[] {
  const { claim, nodeType, attempt, nodeJson, contextJson } = assignment;
  const { config } = nodeSchema.parse(JSON.parse(Buffer.from(nodeJson).toString())).node;
  const { input } = contextSchema.parse(JSON.parse(Buffer.from(contextJson).toString()));
  const iteration = claim?.iteration ?? 0;
  if (config?.effect === true) {
    const value = { claim, name: EFFECT, class: EffectClass.IDEMPOTENT };
    return [{ item: { case: "effectBegin", value } }];
  }
  const decided = fate({ nodeType, scene: input?.scene, iteration, attempt, config });
  if (decided === "hold") return [];
  if (decided === "complete") return [completed(claim, bytesOf(output))];
  const failed = { cause: "provider_error", message: "not now" };
  const result = { case: "failed" as const, value: failed };
  return [{ item: { case: "outcome", value: { claim, durationMs: 1n, result } } }];
}

/** A new effect is made, and its result recorded; the claim stays open. A recorded one is the task's output. */
function afterBegin({ claim, state, resultJson }: EffectBegun, output: unknown): Item {
  if (state === EffectState.COMMITTED) return completed(claim, resultJson);
  const value = { claim, name: EFFECT, resultJson: bytesOf(output) };
  return { item: { case: "effectCommit", value } };
}

function completed(claim: Claim | undefined, outputJson: Uint8Array): Item {
  const result = { case: "completed" as const, value: { outputJson } };
  return { item: { case: "outcome", value: { claim, durationMs: 1n, result } } };
}

const bytesOf = (value: unknown): Buffer => Buffer.from(JSON.stringify(value));

const keyOf = (claim: Claim | undefined): string =>
  `${claim?.runId}/${claim?.nodeId}/${claim?.iteration}/${claim?.epoch}`;
