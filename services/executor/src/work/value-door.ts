// The scheduler's store of values, in parts. A call that fails for a reason that may pass is made again, until the attempt is aborted. The
// digest of a value is its name, so storing it twice is storing it once.

import { LIMITS } from "@pawl/core/data/limits";
import { EngineError } from "@pawl/core/fault/engine-error";
import { createBackoff, pause } from "@pawl/platform/lifecycle/backoff";
import type { GrpcClient } from "@pawl/platform/rpc/grpc-client";
import { cutParts, partsOf } from "@pawl/platform/values/value-store";
import type { Claim, WorkerService } from "@pawl/proto/pawl/worker/v1/worker_service_pb";
import type { ValueDoor } from "../run/stored-values.ts";

const RETRY = { initialMs: 100, maxMs: 2_000 } as const;

export const valueDoor = (client: GrpcClient<typeof WorkerService>): ValueDoor => ({
  read: async (claim, { sha256, bytes }, signal) => {
    const parts: Uint8Array[] = [];
    for (let part = 0; part < partsOf({ bytes }); part += 1) {
      const call = () => client.call.getValue({ claim, sha256, part }, { signal });
      parts.push((await repeated(signal, call)).data);
    }
    return Buffer.concat(parts).toString("utf8");
  },
  write: (claim, { reference, json }, signal) =>
    repeated(signal, () => put(client, claim, { ...reference, data: Buffer.from(json) }, signal)),
});

/** Calls until a call succeeds, the error does not pass, or the signal is aborted. */
async function repeated<T>(signal: AbortSignal, call: () => Promise<T>): Promise<T> {
  const backoff = createBackoff(RETRY);
  for (;;) {
    try {
      return await call();
    } catch (error) {
      const mayPass = error instanceof EngineError && error.retryable;
      if (!mayPass || signal.aborted) throw error;
    }
    await pause(backoff.nextMs(), signal);
    if (signal.aborted) throw new EngineError("CALLER_CANCELLED", "the attempt was aborted");
  }
}

interface Value {
  readonly sha256: string;
  readonly bytes: number;
  readonly data: Buffer;
}

/** Sends the parts of a value, and waits until the scheduler has stored it. */
async function put(
  client: GrpcClient<typeof WorkerService>,
  claim: Claim,
  { sha256, bytes, data }: Value,
  signal: AbortSignal,
): Promise<void> {
  const stream = client.open.putValue();
  const abandon = (): void =>
    stream.fail(new EngineError("CALLER_CANCELLED", "the attempt was aborted"));
  const timer = setTimeout(
    () => stream.fail(new EngineError("STORE_UNAVAILABLE", "storing a value takes too long")),
    LIMITS.storeValueMs,
  );
  signal.addEventListener("abort", abandon, { once: true });
  try {
    let isStored = false;
    stream.listen({ message: () => (isStored = true) });
    let head: object = { claim, sha256, bytes: BigInt(bytes) };
    for (const part of cutParts(data)) {
      if (!stream.write({ ...head, data: part })) await stream.drained();
      head = {};
    }
    stream.end();
    const { error } = await stream.closed;
    if (error !== undefined) throw error;
    if (!isStored) throw new EngineError("STORE_UNAVAILABLE", "the scheduler did not answer");
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", abandon);
  }
}
