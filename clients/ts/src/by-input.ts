// Idempotency by input, as a start asks for it.

import { durationFromMs } from "@bufbuild/protobuf/wkt";
import { IdempotencyScope } from "@pawl/proto/pawl/v1/run_service_pb";

/** For this long, the same workflow and input start one run only. */
export const byInput = (ttlMs: number) => ({
  scope: IdempotencyScope.INPUT_HASH,
  ttl: durationFromMs(ttlMs),
});
