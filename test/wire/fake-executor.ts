// An executor that sends the items of the test: the worker protocol by hand, against a real scheduler.
import { randomUUID } from "node:crypto";
import { createGrpcClient } from "@pawl/platform/rpc/grpc-client";
import type { EngineError } from "@pawl/core/fault/engine-error";
import {
  type Assignment,
  type Claim,
  type Outcome,
  type SchedulerItem,
  type WorkerItem,
  WorkerService,
} from "@pawl/proto/pawl/worker/v1/worker_service_pb";
import type { MessageInitShape } from "@bufbuild/protobuf";
import type {
  OutcomeSchema,
  RegisterSchema,
  WorkerItemSchema,
} from "@pawl/proto/pawl/worker/v1/worker_service_pb";
import { until } from "../support/until.ts";

type Item = MessageInitShape<typeof WorkerItemSchema>["item"];
type Said = SchedulerItem["item"];

/** The node type that only this executor serves. */
export const TASK = "wire-task";

/** One connection to a scheduler. */
export type FakeExecutor = {
  readonly executorId: string;
  /** Sends items in one message. */
  readonly say: (...items: readonly Item[]) => void;
  readonly register: (more?: MessageInitShape<typeof RegisterSchema>) => Promise<void>;
  /** All items of a kind that the scheduler has sent so far. */
  readonly heard: <Kind extends Said["case"]>(
    kind: Kind,
  ) => Extract<Said, { case: Kind }>["value"][];
  /** The nth item of a kind, from 1, once it is here. */
  readonly hear: <Kind extends NonNullable<Said["case"]>>(
    kind: Kind,
    nth?: number,
  ) => Promise<NonNullable<Extract<Said, { case: Kind }>["value"]>>;
  /** The task of a run, once it is assigned. */
  readonly assigned: (runId: string) => Promise<Assignment & { readonly claim: Claim }>;
  /** Settles when the stream is over, with the error it ended with. */
  readonly ended: Promise<EngineError | undefined>;
  /** Says goodbye if it still can, and hangs up. */
  readonly leave: () => Promise<void>;
};

/** Connects, and sends nothing yet. */
export function connectExecutor(address: string): FakeExecutor {
  // Larger than what a scheduler takes, so that it is the scheduler who refuses.
  const options = { messageBytes: 64 * 1024 * 1024 };
  const client = createGrpcClient(WorkerService, address, options);
  const stream = client.open.work();
  const items: Said[] = [];
  stream.listen({
    message: (message) => void items.push(...message.items.map(({ item }) => item)),
  });
  const executorId = randomUUID();
  const heard: FakeExecutor["heard"] = (kind) =>
    // The filter has just compared the case; the compiler does not follow.
    items.filter((item) => item.case === kind).map(({ value }) => value) as never;
  const hear: FakeExecutor["hear"] = (kind, nth = 1) =>
    // The item has the kind that was asked for; the compiler does not follow through the index.
    until(() => heard(kind)[nth - 1] as never, { what: `${kind} number ${nth}` });
  const say: FakeExecutor["say"] = (...said) => {
    stream.write({ items: said.map((item) => ({ item }) as WorkerItem) });
  };
  return {
    executorId,
    say,
    heard,
    hear,
    register: async (more = {}) => {
      const value = { executorId, nodeTypes: [TASK], slots: 8, ...more } as never;
      say({ case: "register", value });
      await hear("registered");
    },
    assigned: async (runId) => {
      const found = await until(
        () => heard("assignment").findLast((each) => each?.claim?.runId === runId),
        { what: `the assignment of ${runId}` },
      );
      if (found.claim === undefined) throw new Error("an assignment without a claim");
      return { ...found, claim: found.claim };
    },
    ended: stream.closed.then(({ error }) => error),
    leave: async () => {
      say({ case: "goodbye", value: {} });
      stream.end();
      await stream.closed;
      client.close();
    },
  };
}

/** An outcome that went well. */
export const completed = (
  claim: Claim,
  output: string | Uint8Array = "null",
  more: MessageInitShape<typeof OutcomeSchema> = {},
): Item => {
  const outputJson = Buffer.from(output);
  const result = { case: "completed", value: { outputJson } };
  // As above.
  return {
    case: "outcome",
    value: { claim, durationMs: 1n, result, ...more } as unknown as Outcome,
  };
};
