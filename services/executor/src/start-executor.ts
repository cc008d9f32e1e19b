// An executor inside of a user's process. It serves handlers of the user, with the same work loop, contracts, moderation and timeouts as
// the executor of the product. It has no built-in types, no sandbox and no port.

import { randomUUID } from "node:crypto";
import type { EngineError } from "@pawl/core/fault/engine-error";
import type { Handler } from "@pawl/core/handler/define";
import { createGrpcClient, WORK_KEEPALIVE } from "@pawl/platform/rpc/grpc-client";
import { WorkerService } from "@pawl/proto/pawl/worker/v1/worker_service_pb";
import type { ModerationGateway } from "./checks/moderation.ts";
import type { RefusedType } from "./host/hello.ts";
import { Refusals } from "./host/refusals.ts";
import { registryOf } from "./handlers/registry.ts";
import { attemptRunner } from "./run/attempt.ts";
import { type ProcessOptions, thisProcess } from "./this-process.ts";
import { isRefusal } from "./work/session.ts";
import { Worker } from "./work/worker.ts";

export type { RefusedType } from "./host/hello.ts";

export interface ExecutorOptions extends ProcessOptions {
  /** Where schedulers serve executors: host:port. */
  readonly scheduler: string;
  /** The handlers of this process, 1 to 64 types. */
  readonly handlers: readonly Handler[];
  /** Checks the data of nodes that ask for moderation. Without it such a node fails. */
  readonly moderation?: ModerationGateway;
  /** How many invocations run at once, 1 to 10000. 64 by default. */
  readonly slots?: number;
  /** The schedulers' token, if they have one and a handler has the name of a built-in type. */
  readonly token?: string;
  /** How long invocations may continue after `stop`; 30 s by default. */
  readonly graceMs?: number;
  /** Called for each end of a connection. The executor connects again by itself. A refusal lasts until a person acts. */
  readonly onDisconnected?: (error: EngineError | undefined) => void;
  /** Gets each type that the scheduler does not give to this executor, and why; a line on standard error by default. */
  readonly onRefused?: (refused: RefusedType) => void;
}

/** A running executor. */
export interface RunningExecutor {
  readonly executorId: string;
  /** `refused` means that the scheduler does not accept this executor. `refusal` has the reason. */
  status(): "connecting" | "open" | "refused" | "stopped";
  readonly refusal: EngineError | undefined;
  /** The types that get no work from the scheduler: TYPE_CONFLICT or SCHEMA_INVALID. The others are served. */
  readonly refused: readonly RefusedType[];
  /** Settles when a scheduler has taken this executor; `refused` is known then. @throws EngineError if it refuses */
  ready(): Promise<void>;
  /** Takes no more work, finishes running invocations within the grace period, and disconnects. */
  stop(): Promise<void>;
}

const SLOTS = 64;
const SLOTS_MAX = 10_000;
const TYPES_MAX = 64;
const GRACE_MS = 30_000;

/** Starts an executor. It connects at once, and again after every break. @throws TypeError for options that no scheduler accepts */
export function startExecutor(options: ExecutorOptions): RunningExecutor {
  const { handlers, moderation, slots = SLOTS, token = "", graceMs = GRACE_MS } = options;
  checkOptions(handlers, slots);
  const executorId = randomUUID();
  const refusals = new Refusals([]);
  const onRefused = options.onRefused ?? printRefused;
  const client = createGrpcClient(WorkerService, options.scheduler, { keepalive: WORK_KEEPALIVE });
  const registered = Promise.withResolvers<void>();
  // A caller that never calls `ready` must get no unhandled rejection.
  registered.promise.catch(() => undefined);
  let stopped: Promise<void> | undefined;
  const worker = new Worker({
    executorId,
    instanceId: randomUUID(),
    token,
    nodeTypes: handlers.map(({ type }) => type),
    descriptors: handlers.map(descriptorOf),
    capacity: slots,
    graceMs,
    description: `handlers, node ${process.version}`,
    process: thisProcess(options),
    connect: () => client.open.work(),
    run: attemptRunner(registryOf(handlers), moderation),
    onRegistered: ({ refused }) => {
      for (const each of refusals.adopt(refused)) onRefused(each);
      registered.resolve();
    },
    onDisconnected: (error) => {
      if (error !== undefined && isRefusal(error)) registered.reject(error);
      options.onDisconnected?.(error);
    },
  });
  for (const { type, schemas } of handlers)
    for (const fault of schemas.faults) printLine(`${type}: ${fault}`);
  worker.start();
  return {
    executorId,
    status: () => {
      if (stopped !== undefined) return "stopped";
      if (worker.isRegistered) return "open";
      return worker.refusal === undefined ? "connecting" : "refused";
    },
    get refusal() {
      return worker.refusal;
    },
    get refused() {
      return refusals.all;
    },
    ready: () => registered.promise,
    stop: () => (stopped ??= worker.stop().then(() => client.close())),
  };
}

const printLine = (line: string): void => void process.stderr.write(`pawl: ${line}\n`);

const printRefused = ({ type, reason, message }: RefusedType): void =>
  printLine(`${type} is not served: ${reason}: ${message}`);

/** @throws TypeError */
function checkOptions(handlers: readonly Handler[], slots: number): void {
  if (handlers.length === 0 || handlers.length > TYPES_MAX)
    throw new TypeError(`startExecutor needs 1 to ${TYPES_MAX} handlers, not ${handlers.length}`);
  const twice = handlers.find(
    ({ type }, at) => handlers.findIndex((one) => one.type === type) < at,
  );
  if (twice !== undefined)
    throw new TypeError(`two handlers have the type ${twice.type}; give one another name`);
  if (!Number.isInteger(slots) || slots < 1 || slots > SLOTS_MAX)
    throw new TypeError(`slots must be a whole number from 1 to ${SLOTS_MAX}, not ${slots}`);
}

const descriptorOf = ({ type, description, external, schemas, wantsState }: Handler) => ({
  type,
  description,
  external,
  inputSchema: schemas.input,
  outputSchema: schemas.output,
  configSchema: schemas.config,
  state: wantsState,
});
