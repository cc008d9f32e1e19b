// The events that report a failure, with its class.

import { classOf } from "@pawl/core/fault/cause";
import type { FactOf } from "@pawl/core/log/event";
import { failureOf } from "@pawl/core/log/meaning";
import { toUsageShape } from "@pawl/core/log/usage-shape";
import { FailureClass } from "@pawl/proto/pawl/v1/run_pb";
import { toWireCompensated } from "./compensation.ts";
import { toWireFailureClass, toWireStop } from "./enum.ts";
import { toJsonBytes, toTimestamp, toWholeMs } from "./scalar.ts";

const classIn = (fact: Parameters<typeof failureOf>[0]): FailureClass =>
  toWireFailureClass(failureOf(fact)?.failureClass);

export const toWireRunFailed = (fact: FactOf<"run.failed">) => ({
  failedNodeId: fact.payload.failedNodeId,
  message: fact.payload.message,
  cause: fact.payload.cause ?? "",
  failureClass: classIn(fact),
  compensation: toWireCompensated(fact.payload),
});

export const toWireRunCancelled = (fact: FactOf<"run.cancelled">) => ({
  reason: fact.payload.reason,
  stop: toWireStop(fact.payload.stop),
  failureClass: classIn(fact),
  compensation: toWireCompensated(fact.payload),
});

export const toWireRunTimedOut = ({ payload }: FactOf<"run.timed_out">) => ({
  deadlineTime: toTimestamp(payload.deadlineAt),
  failureClass: FailureClass.TIMEOUT,
  compensation: toWireCompensated(payload),
});

export const toWireRetried = ({ payload }: FactOf<"node.retried">) => ({
  cause: payload.cause,
  message: payload.message,
  delayMs: BigInt(payload.delayMs),
  failureClass: toWireFailureClass(classOf({ cause: payload.cause })),
  usage: payload.usage && toUsageShape(payload.usage),
  awaitsBudget: payload.awaitsBudget ?? false,
});

export const toWireFailed = ({ payload, value }: FactOf<"node.failed">) => ({
  cause: payload.cause,
  message: payload.message,
  failureClass: toWireFailureClass(classOf(payload)),
  signalRequestId: payload.signal ?? "",
  usage: payload.usage && toUsageShape(payload.usage),
  detailsJson: toJsonBytes(value),
});

export const toWireTimedOut = ({ payload }: FactOf<"node.timed_out">) => ({
  timeoutMs: toWholeMs(payload.timeoutMs),
  message: payload.message ?? "",
  failureClass: FailureClass.TIMEOUT,
  usage: payload.usage && toUsageShape(payload.usage),
});
