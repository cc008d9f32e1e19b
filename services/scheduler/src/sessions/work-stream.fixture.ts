// An executor's stream to the real worker service, without sockets. `say` sends messages; `heard` lists the items that the scheduler sent.

import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { EngineError } from "@pawl/core/fault/engine-error";
import { createLogger } from "@pawl/platform/telemetry/log";
import {
  type SchedulerItem,
  SchedulerItemSchema,
  type WorkerItemSchema,
  WorkRequestSchema,
  type WorkRequest,
} from "@pawl/proto/pawl/worker/v1/worker_service_pb";
import { memoryValues } from "@pawl/platform/values/memory.fixture";
import { onTestFinished } from "vitest";
import type { createEngine, Store } from "../tick/tick.fixture.ts";
import type { WorkStream } from "./outgoing.ts";
import { Renewals } from "./renewals.ts";
import { serveWork, type WorkParts } from "./work-service.ts";

/** What an executor may say. */
export type Item = NonNullable<MessageInitShape<typeof WorkerItemSchema>["item"]>;
type Said = SchedulerItem["item"];

/** An executor over an open stream that is two functions. */
export function connect(
  store: Store,
  engine: ReturnType<typeof createEngine>,
  more: Partial<WorkParts> = {},
) {
  const failed = Promise.withResolvers<unknown>();
  const closed = Promise.withResolvers<Awaited<WorkStream["closed"]>>();
  const heard: Said[] = [];
  const waiters: PromiseWithResolvers<void>[] = [];
  let isClogged = false;
  let listener: ((message: WorkRequest) => void) | undefined;
  const stream: WorkStream = {
    signal: new AbortController().signal,
    closed: closed.promise,
    listen: (given) => void (listener = (message) => given.message(message)),
    write: ({ items = [] }, onSent) => {
      if (isClogged) return false;
      if (onSent !== undefined) queueMicrotask(onSent);
      heard.push(...items.map((each) => create(SchedulerItemSchema, each).item));
      for (const { resolve } of waiters.splice(0)) resolve();
      return true;
    },
    drained: async () => undefined,
    pause: () => undefined,
    end: () => closed.resolve({}),
    fail: (error) => {
      failed.resolve(error);
      for (const { reject } of waiters.splice(0)) reject(error);
    },
  };
  serveWork({ ...partsOf(store, engine), ...more }, stream);
  const say = (...items: readonly Item[]): void =>
    listener?.(create(WorkRequestSchema, { items: items.map((item) => ({ item })) }));
  const hear = async <Kind extends NonNullable<Said["case"]>>(kind: Kind, nth = 1) => {
    for (;;) {
      const found = heard.filter((item) => item.case === kind)[nth - 1];
      // The filter has just compared the case; the compiler does not follow.
      if (found !== undefined) return found.value as Extract<Said, { case: Kind }>["value"];
      const waiter = Promise.withResolvers<void>();
      waiters.push(waiter);
      await waiter.promise;
    }
  };
  return {
    say,
    hear,
    heard,
    failed: failed.promise,
    /** From now on nothing leaves the scheduler: the executor takes nothing off the stream. */
    clog: () => void (isClogged = true),
    /** The connection breaks. */
    sever: () => closed.resolve({ error: new EngineError("CALLER_CANCELLED", "severed") }),
  };
}

function partsOf(store: Store, engine: ReturnType<typeof createEngine>): WorkParts {
  const log = createLogger({ service: "scheduler", level: "silent" });
  const terms = { leaseMs: 60_000, renewMs: 20_000 };
  const { executors, nodeTypes } = store;
  const renewals = new Renewals({
    ...terms,
    executors,
    log,
    onFailure: () => undefined,
    onRevived: () => engine.loop.poll(),
  });
  onTestFinished(() => renewals.stop());
  return {
    schedulerId: "memory",
    loop: engine.loop,
    connected: engine.connected,
    executors,
    nodeTypes,
    values: memoryValues(store.valueRows),
    renewals,
    log,
    ...terms,
    graceMs: 1_000,
    sweepSoon: () => undefined,
    ensureQueues: async () => undefined,
    webhooks: { took: () => undefined, joined: () => undefined, left: () => undefined },
    builtIns: { types: new Set(), token: undefined },
  };
}
