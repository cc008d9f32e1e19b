// The google.rpc details of an EngineError, and the EngineError behind received details. status.ts does the rest of the mapping. Details
// are sent in HTTP/2 trailers, and peers allow about 16 KiB there, so a long list of violations is cut.

import { create, toBinary } from "@bufbuild/protobuf";
import type { DescMessage, MessageInitShape, MessageShape } from "@bufbuild/protobuf";
import { durationFromMs, durationMs } from "@bufbuild/protobuf/wkt";
import { EngineError, type EngineErrorOptions } from "@pawl/core/fault/engine-error";
import { invariant } from "@pawl/core/fault/invariant";
import {
  isReason,
  NEXT_STEPS,
  REASONS,
  reasonRow,
  type Reason,
  resourceKey,
} from "@pawl/core/fault/reason";
import {
  BadRequestSchema,
  ErrorInfoSchema,
  PreconditionFailureSchema,
  QuotaFailureSchema,
  RequestInfoSchema,
  ResourceInfoSchema,
  RetryInfoSchema,
} from "@pawl/proto/google/rpc/error_details_pb";

import { clip, clipMessage } from "./clip.ts";

/** ErrorInfo.domain of every error of Pawl. */
export const ERROR_DOMAIN = "pawl";

/** A detail with the schema it is packed by. */
export interface Detail<Schema extends DescMessage = DescMessage> {
  readonly desc: Schema;
  readonly value: MessageShape<Schema>;
}

/** Finds the first detail of a schema in the message that carried it. */
type FindDetail = <Schema extends DescMessage>(schema: Schema) => MessageShape<Schema> | undefined;

/** The bytes for BadRequest. Base64 adds a third, and the status, the message and the other details need room too. */
const VIOLATION_BYTES = 6 * 1024;
const METADATA_VALUE_LENGTH = 256;

/** Long enough for a failover or a contended run to pass, and too short for a person to notice. */
const DEFAULT_RETRY_AFTER_MS: Partial<Record<Reason, number>> = { RUN_CONTENDED: 50 };
const RETRY_AFTER_MS = 1_000;

const detail = <Schema extends DescMessage>(
  desc: Schema,
  init: MessageInitShape<Schema>,
): Detail => ({ desc, value: create(desc, init) });

/** Every detail `error` carries; ErrorInfo is always the first. */
export const detailsOf = (error: EngineError, requestId: string | undefined): readonly Detail[] => {
  const { code, retryable } = REASONS[error.reason];
  const found: Detail[] = [errorInfo(error)];
  if (error.violations.length > 0) found.push(badRequest(error));
  if (code === "NOT_FOUND" || code === "ALREADY_EXISTS") found.push(resourceInfo(error));
  if (code === "FAILED_PRECONDITION") found.push(preconditionFailure(error));
  if (code === "RESOURCE_EXHAUSTED" && !retryable) found.push(quotaFailure(error));
  // A client takes RetryInfo as the sign that it may retry, so no other reason carries it.
  if (retryable) found.push(retryInfo(error));
  if (requestId !== undefined) found.push(detail(RequestInfoSchema, { requestId }));
  return found;
};

const retryInfo = (error: EngineError): Detail => {
  const preset = DEFAULT_RETRY_AFTER_MS[error.reason] ?? RETRY_AFTER_MS;
  const retryDelay = durationFromMs(error.retryAfterMs ?? preset);
  return detail(RetryInfoSchema, { retryDelay });
};

const errorInfo = (error: EngineError): Detail => {
  const metadata: Record<string, string> = { next: NEXT_STEPS[error.reason] };
  for (const [key, value] of Object.entries(error.metadata)) {
    metadata[key] = clip(value, METADATA_VALUE_LENGTH);
  }
  return detail(ErrorInfoSchema, { reason: error.reason, domain: ERROR_DOMAIN, metadata });
};

const badRequest = (error: EngineError): Detail => {
  const value = create(BadRequestSchema);
  let bytes = 0;
  for (const violation of error.violations) {
    const field = clip(violation.field, METADATA_VALUE_LENGTH);
    const description = clipMessage(violation.description);
    const one = create(BadRequestSchema, {
      fieldViolations: [{ field, description, reason: violation.reason }],
    });
    bytes += toBinary(BadRequestSchema, one).length;
    if (bytes > VIOLATION_BYTES) break;
    value.fieldViolations.push(...one.fieldViolations);
  }
  return { desc: BadRequestSchema, value };
};

/** The resource that the error is about, and its id from the metadata. */
const resourceOf = (error: EngineError): { readonly type: string; readonly id: string } => {
  const { resource } = reasonRow(error.reason);
  invariant(resource !== undefined, `${error.reason} names a resource`);
  const key = resourceKey(resource);
  return { type: resource, id: clip(error.metadata[key] ?? "", METADATA_VALUE_LENGTH) };
};

const resourceInfo = (error: EngineError): Detail => {
  const { type, id } = resourceOf(error);
  return detail(ResourceInfoSchema, {
    resourceType: `${ERROR_DOMAIN}.v1.${type}`,
    resourceName: id,
    description: clipMessage(error.message),
  });
};

const preconditionFailure = (error: EngineError): Detail => {
  const { type, id } = resourceOf(error);
  const description = clipMessage(error.message);
  return detail(PreconditionFailureSchema, {
    violations: [{ type: error.reason, subject: `${type}s/${id}`, description }],
  });
};

const quotaFailure = (error: EngineError): Detail => {
  const subject = clip(error.metadata["limit"] ?? "limit", METADATA_VALUE_LENGTH);
  return detail(QuotaFailureSchema, {
    violations: [{ subject, description: clipMessage(error.message) }],
  });
};

/** The EngineError behind details that `detailsOf` made, or undefined for details of another domain. */
export const errorFromDetails = (
  find: FindDetail,
  message: string,
  cause: unknown,
): EngineError | undefined => {
  const info = find(ErrorInfoSchema);
  if (info?.domain !== ERROR_DOMAIN || !isReason(info.reason)) return undefined;
  const requestId = find(RequestInfoSchema)?.requestId;
  const retryDelay = find(RetryInfoSchema)?.retryDelay;
  const violations = find(BadRequestSchema)?.fieldViolations ?? [];
  const options: EngineErrorOptions = {
    metadata: { ...info.metadata, ...(requestId !== undefined && { [REQUEST_ID]: requestId }) },
    violations: violations.map(({ field, description, reason }) => ({
      field,
      description,
      reason,
    })),
    cause,
    ...(retryDelay !== undefined && { retryAfterMs: durationMs(retryDelay) }),
  };
  return new EngineError(info.reason, message, options);
};

/** The metadata key that keeps a received RequestInfo, so that a relayed error keeps the id that its origin logged. */
export const REQUEST_ID = "origin_request_id";
