// Stores large values for executors and reads them, one part at a time: the scheduler never holds a whole value. Every call names a claim, and
// the lease in the database proves it. An executor reads only what its own run refers to.
//
// Race: the claim is lost while a value arrives. The value stays without a named reference and a sweep removes it. The outcome that would have
// named it is refused as stale.

import { LIMITS } from "@pawl/core/data/limits";
import { EngineError, invalidField } from "@pawl/core/fault/engine-error";
import type { BidiStream } from "@pawl/platform/rpc/bidi";
import type { ValueStore } from "@pawl/platform/values/value-store";
import type { MessageInitShape } from "@bufbuild/protobuf";
import type {
  Claim as WireClaim,
  GetValueRequest,
  GetValueResponseSchema,
  PutValueRequest,
  PutValueResponseSchema,
} from "@pawl/proto/pawl/worker/v1/worker_service_pb";
import type { Claim } from "../inputs/input.ts";
import { claimOf } from "./wire.ts";

export interface ValueParts {
  readonly values: ValueStore;
}

type PutStream = BidiStream<PutValueRequest, MessageInitShape<typeof PutValueResponseSchema>>;

const SHA256 = /^[0-9a-f]{64}$/;

let storing = 0;

/** Serves one PutValue. */
export async function putValue({ values }: ValueParts, stream: PutStream): Promise<void> {
  if (storing >= LIMITS.storingMax)
    throw new EngineError("OVERLOADED", `${storing} values are being stored`, {
      retryAfterMs: 500,
    });
  storing += 1;
  const timer = setTimeout(
    () => stream.fail(new EngineError("DEADLINE_PASSED", "storing a value takes too long")),
    LIMITS.storeValueMs,
  );
  try {
    await receive(values, stream);
    stream.write({});
    stream.end();
  } finally {
    storing -= 1;
    clearTimeout(timer);
  }
}

type Writer = Awaited<ReturnType<ValueStore["begin"]>>;

/** Settles when the value is stored. */
function receive(values: ValueStore, stream: PutStream): Promise<void> {
  const done = Promise.withResolvers<void>();
  let writer: Writer | undefined;
  // Parts are stored in their order. The stream's own window bounds the parts that wait.
  let chain = Promise.resolve();
  const next = (work: () => Promise<void>): void => {
    chain = chain.then(() => (stream.signal.aborted ? undefined : work()));
    chain.catch(done.reject);
  };
  let received = 0;
  stream.listen({
    message: (message) => {
      received += message.data.length;
      if (received > LIMITS.storedBytes)
        return done.reject(
          new EngineError("LIMIT_EXCEEDED", `a value has at most ${LIMITS.storedBytes} bytes`),
        );
      return next(async () => {
        writer ??= await begin(values, message);
        await writer.add(message.data);
      });
    },
    end: () =>
      next(async () => {
        if (writer === undefined) throw invalidField("sha256", "REQUIRED", "no value was sent");
        await writer.end();
        done.resolve();
      }),
  });
  void stream.closed.then(() =>
    done.reject(new EngineError("CALLER_CANCELLED", "the executor left")),
  );
  return done.promise;
}

async function begin(
  values: ValueStore,
  { claim: wire, sha256, bytes }: PutValueRequest,
): Promise<Writer> {
  const claim = await provenClaim(values, wire);
  if (!SHA256.test(sha256)) throw invalidField("sha256", "MALFORMED", "is not a SHA-256 in hex");
  return await values.begin(claim.runId, { sha256, bytes: Number(bytes) });
}

/** Serves one GetValue. @throws STALE_CLAIM, VALUE_NOT_FOUND, VALUE_CORRUPT, STORE_UNAVAILABLE */
export async function getValue(
  { values }: ValueParts,
  { claim: wire, sha256, part }: GetValueRequest,
): Promise<MessageInitShape<typeof GetValueResponseSchema>> {
  const { runId } = await provenClaim(values, wire);
  const { data } = await values.readPart({ runId, sha256, part });
  return { data };
}

/** @throws STALE_CLAIM */
async function provenClaim(values: ValueStore, wire: WireClaim | undefined): Promise<Claim> {
  const claim = claimOf(wire);
  if (claim !== undefined && (await values.rows.hasClaim(claim))) return claim;
  throw new EngineError("STALE_CLAIM", "no executor holds this claim", {
    metadata: { run_id: wire?.runId ?? "" },
  });
}
