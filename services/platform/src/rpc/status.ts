// Maps EngineError to google.rpc.Status and back, for grpc-js (trailer grpc-status-details-bin) and for Connect (details). No other file
// does. A throw that is not an EngineError is a bug in Pawl. It becomes INTERNAL with a request id. Its cause is logged and never sent.

import { randomUUID } from "node:crypto";

import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { anyPack, anyUnpack } from "@bufbuild/protobuf/wkt";
import { Code, ConnectError } from "@connectrpc/connect";
import { Metadata, status as grpcCodes, type ServiceError, type StatusObject } from "@grpc/grpc-js";
import { EngineError } from "@pawl/core/fault/engine-error";
import { GRPC_CODES, REASONS, type GrpcCodeName, type Reason } from "@pawl/core/fault/reason";
import { StatusSchema, type Status } from "@pawl/proto/google/rpc/status_pb";

import { clipMessage } from "./clip.ts";
import { REQUEST_ID, detailsOf, errorFromDetails, type Detail } from "./error-details.ts";

const STATUS_TRAILER = "grpc-status-details-bin";

/** Called for every throw that is a bug of Pawl, with the id that its caller gets. */
export type OnInternal = (fault: { readonly requestId: string; readonly error: unknown }) => void;

interface Mapped {
  readonly code: GrpcCodeName;
  readonly message: string;
  readonly details: readonly Detail[];
}

/** `error` as an EngineError; INTERNAL unless it is one already or a known Connect error. */
export const toEngineError = (error: unknown): EngineError => {
  if (error instanceof EngineError) return error;
  if (error instanceof ConnectError) return fromConnectError(error);
  return new EngineError("INTERNAL", "internal error", { cause: error });
};

/** Never throws: nothing would catch a throw here, and it would end the process. */
const map = (thrown: unknown, onInternal: OnInternal): Mapped => {
  try {
    return mapKnown(thrown, onInternal);
  } catch (fault) {
    try {
      onInternal({ requestId: "none", error: fault });
    } catch {
      // The logger itself failed, so the error cannot be reported.
    }
    return { code: "INTERNAL", message: "internal error", details: [] };
  }
};

const mapKnown = (thrown: unknown, onInternal: OnInternal): Mapped => {
  const error = toEngineError(thrown);
  let requestId = error.metadata[REQUEST_ID];
  if (error.reason === "INTERNAL" && requestId === undefined) {
    requestId = randomUUID();
    onInternal({ requestId, error: thrown });
  }
  const text = clipMessage(error.message);
  return {
    code: REASONS[error.reason].code,
    message: error.reason === "INTERNAL" ? `internal error; quote request ${requestId}` : text,
    details: detailsOf(error, requestId),
  };
};

/** The code of the answer to a throw. */
export const codeOf = (thrown: unknown): GrpcCodeName => {
  try {
    return REASONS[toEngineError(thrown).reason].code;
  } catch {
    return "INTERNAL";
  }
};

/** The status of the answer to a throw, as a message. */
export const toStatus = (thrown: unknown, onInternal: OnInternal): Status => {
  const { code, message, details } = map(thrown, onInternal);
  const status = { code: GRPC_CODES[code], message };
  try {
    const packed = details.map(({ desc, value }) => anyPack(desc, value));
    return create(StatusSchema, { ...status, details: packed });
  } catch {
    // The details cannot be written, but the code still helps the caller.
    return create(StatusSchema, status);
  }
};

/** The status that a grpc-js handler passes to its callback. */
export const toGrpcStatus = (thrown: unknown, onInternal: OnInternal): StatusObject => {
  const status = toStatus(thrown, onInternal);
  const metadata = new Metadata();
  metadata.set(STATUS_TRAILER, Buffer.from(toBinary(StatusSchema, status)));
  return { code: grpcCodes[codeOf(thrown)], details: status.message, metadata };
};

/** Connect's codes by their numbers, which are those of gRPC. */
const CONNECT_CODES: ReadonlyMap<number, Code> = new Map(
  Object.values(Code).flatMap((code) => (typeof code === "number" ? [[code, code]] : [])),
);

/** The error that a Connect handler throws. */
export const toConnectError = (thrown: unknown, onInternal: OnInternal): ConnectError => {
  const { code, message, details } = map(thrown, onInternal);
  return new ConnectError(
    message,
    CONNECT_CODES.get(GRPC_CODES[code]) ?? Code.Internal,
    undefined,
    // ConnectError expects an init shape. A whole message is one.
    details.map(({ desc, value }) => ({ desc, value: value as never })),
  );
};

/** Options for reading a status without details of Pawl. */
interface ReadOptions {
  /** Whether the client cancelled the call itself. If not, a bare CANCELLED means that the peer was cut off, like UNAVAILABLE. */
  readonly isOwnCancel?: boolean;
}

/** The EngineError behind a status that a grpc-js client received. Without details of Pawl, the code gives the nearest reason. */
export const fromGrpcStatus = (
  received: ServiceError | StatusObject,
  { isOwnCancel }: ReadOptions = {},
): EngineError => {
  const ours = ownError(statusOf(received.metadata), received.details, received);
  if (ours !== undefined) return ours;
  const code: number = received.code;
  const isCutOff = code === GRPC_CODES.CANCELLED && isOwnCancel === false;
  return foreign(isCutOff ? GRPC_CODES.UNAVAILABLE : code, received.details, received);
};

/** The EngineError behind a status in a message. */
export const fromStatus = (status: Status): EngineError =>
  ownError(status, status.message, status) ?? foreign(status.code, status.message, status);

const ownError = (status: Status | undefined, message: string, cause: unknown) =>
  errorFromDetails(
    (schema) => {
      for (const any of status?.details ?? []) {
        const found = anyUnpack(any, schema);
        if (found !== undefined) return found;
      }
      return undefined;
    },
    message,
    cause,
  );

const statusOf = (metadata: Metadata | undefined): Status | undefined => {
  const trailer = metadata?.get(STATUS_TRAILER)[0];
  if (!(trailer instanceof Buffer)) return undefined;
  try {
    return fromBinary(StatusSchema, trailer);
  } catch {
    // The details are garbled. The code alone decides.
    return undefined;
  }
};

const MALFORMED = /^(parse binary|received compressed envelope)/;

/** The EngineError behind an error that a Connect client received, or that connect-node itself threw. */
export const fromConnectError = (error: ConnectError): EngineError => {
  const ours = errorFromDetails((schema) => error.findDetails(schema)[0], error.rawMessage, error);
  if (ours !== undefined) return ours;
  // connect-node reports a malformed binary body as INTERNAL, but the caller caused it.
  const malformed = error.code === Code.Internal && MALFORMED.test(error.rawMessage);
  return foreign(malformed ? Code.InvalidArgument : error.code, error.rawMessage, error);
};

const REASON_BY_CODE: Readonly<Record<number, Reason>> = {
  [GRPC_CODES.CANCELLED]: "CALLER_CANCELLED",
  [GRPC_CODES.INVALID_ARGUMENT]: "INPUT_INVALID",
  [GRPC_CODES.DEADLINE_EXCEEDED]: "DEADLINE_PASSED",
  [GRPC_CODES.PERMISSION_DENIED]: "FORBIDDEN",
  [GRPC_CODES.RESOURCE_EXHAUSTED]: "LIMIT_EXCEEDED",
  [GRPC_CODES.OUT_OF_RANGE]: "CURSOR_OUT_OF_RANGE",
  [GRPC_CODES.UNIMPLEMENTED]: "UNKNOWN_METHOD",
  [GRPC_CODES.UNAVAILABLE]: "SCHEDULER_UNAVAILABLE",
};

const foreign = (code: number, message: string, cause: unknown): EngineError =>
  new EngineError(REASON_BY_CODE[code] ?? "INTERNAL", clipMessage(message), { cause });
