// An error inside a message of a stream, with the fields that a status of a call has in its details. The public contract has its own
// message for it, so users generate code from our contracts alone.

import { create, type DescMessage, type MessageShape } from "@bufbuild/protobuf";
import { anyUnpack } from "@bufbuild/protobuf/wkt";
import {
  BadRequestSchema,
  ErrorInfoSchema,
  RequestInfoSchema,
  RetryInfoSchema,
} from "@pawl/proto/google/rpc/error_details_pb";
import { type Refusal, RefusalSchema } from "@pawl/proto/pawl/v1/run_service_pb";
import { type OnInternal, toStatus } from "../rpc/status.ts";

/** The refusal for a throw. A throw that is a bug in Pawl is logged and becomes INTERNAL. */
export function toWireRefusal(thrown: unknown, onInternal: OnInternal): Refusal {
  const { code, message, details } = toStatus(thrown, onInternal);
  const find = <Schema extends DescMessage>(schema: Schema): MessageShape<Schema> | undefined => {
    for (const any of details) {
      const found = anyUnpack(any, schema);
      if (found !== undefined) return found;
    }
    return undefined;
  };
  const info = find(ErrorInfoSchema);
  const retryDelay = find(RetryInfoSchema)?.retryDelay;
  return create(RefusalSchema, {
    code,
    message,
    reason: info?.reason ?? "INTERNAL",
    metadata: { ...info?.metadata },
    violations: (find(BadRequestSchema)?.fieldViolations ?? []).map(
      ({ field, reason, description }) => ({ path: field, reason, message: description }),
    ),
    ...(retryDelay && { retryDelay }),
    originRequestId: find(RequestInfoSchema)?.requestId ?? "",
  });
}
