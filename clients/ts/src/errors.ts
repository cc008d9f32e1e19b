// The error of a call, typed by its reason. The server names the reason in google.rpc.ErrorInfo. Without one the call never reached a Pawl
// server or its connection broke, and the transport's code decides.

import { Code, ConnectError } from "@connectrpc/connect";
import { durationMs } from "@bufbuild/protobuf/wkt";
import {
  BadRequestSchema,
  ErrorInfoSchema,
  RequestInfoSchema,
  RetryInfoSchema,
} from "@pawl/proto/google/rpc/error_details_pb";
import type { Refusal } from "@pawl/proto/pawl/v1/run_service_pb";
import { Reason } from "@pawl/proto/pawl/errors/v1/reason_pb";

/** A reason the server names, without the prefix REASON_. */
export type ServerReason = Exclude<keyof typeof Reason, "UNSPECIFIED">;

/** Why a call failed: the reason of the server, UNREACHABLE if no server answered, UNRECOGNISED for anything newer or foreign. */
export type PawlReason = ServerReason | "UNREACHABLE" | "UNRECOGNISED";

/** One broken rule of a definition or of a request. */
export interface Violation {
  /** The place: a path such as nodes[3].config.timeout_ms. */
  readonly path: string;
  /** The rule, in UPPER_SNAKE. */
  readonly reason: string;
  /** The fault, for people. */
  readonly message: string;
}

interface PawlErrorOptions {
  readonly code?: Code;
  readonly metadata?: Readonly<Record<string, string>>;
  readonly violations?: readonly Violation[];
  readonly retryAfterMs?: number | undefined;
  readonly requestId?: string | undefined;
  readonly serverReason?: string | undefined;
  readonly cause?: unknown;
}

/** The error of every call. Switch on `reason`. `message` is for people. */
export class PawlError extends Error {
  override readonly name = "PawlError";
  readonly reason: PawlReason;
  /** The canonical gRPC code. */
  readonly code: Code;
  /** The variable parts of the message, for machines. */
  readonly metadata: Readonly<Record<string, string>>;
  /** Every broken rule at once, for DEFINITION_INVALID, CYCLE_DETECTED and INPUT_INVALID. */
  readonly violations: readonly Violation[];
  /** How long the server asks the caller to wait before it tries again. Undefined if another try cannot help. */
  readonly retryAfterMs: number | undefined;
  /** The next step that the server advises, for people. */
  readonly next: string | undefined;
  /** Quote this id when you report an INTERNAL error. */
  readonly requestId: string | undefined;
  /** The reason in the server's spelling, known to this client or not. Undefined if no server named one. */
  readonly serverReason: string | undefined;

  constructor(reason: PawlReason, message: string, options: PawlErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.reason = reason;
    this.code = options.code ?? Code.Unknown;
    this.metadata = options.metadata ?? {};
    this.violations = options.violations ?? [];
    this.retryAfterMs = options.retryAfterMs;
    this.next = options.metadata?.["next"];
    this.requestId = options.requestId;
    this.serverReason = options.serverReason;
  }

  /** Whether the same call may succeed later without a change by the caller. The server marks such errors with RetryInfo. */
  get retryable(): boolean {
    return (
      this.retryAfterMs !== undefined ||
      this.reason === "UNREACHABLE" ||
      this.code === Code.Unavailable
    );
  }
}

const isServerReason = (text: string): text is ServerReason =>
  text !== "UNSPECIFIED" && Object.hasOwn(Reason, text);

/** Turns any error of a call into a PawlError. A PawlError stays unchanged. */
export function pawlErrorFrom(thrown: unknown): PawlError {
  if (thrown instanceof PawlError) return thrown;
  const error = ConnectError.from(thrown);
  const named = error.findDetails(ErrorInfoSchema)[0];
  const delay = error.findDetails(RetryInfoSchema)[0]?.retryDelay;
  return new PawlError(reasonOf(error, named?.reason, thrown), error.rawMessage, {
    code: error.code,
    metadata: { ...named?.metadata },
    violations: error
      .findDetails(BadRequestSchema)
      .flatMap((detail) => detail.fieldViolations)
      .map(({ field, reason, description }) => ({ path: field, reason, message: description })),
    retryAfterMs: delay === undefined ? undefined : durationMs(delay),
    requestId: error.findDetails(RequestInfoSchema)[0]?.requestId,
    serverReason: named?.reason,
    cause: thrown,
  });
}

/** Connect's codes by their numbers, which are those of gRPC. */
const CODES: ReadonlyMap<number, Code> = new Map(
  Object.values(Code).flatMap((code) => (typeof code === "number" ? [[code, code]] : [])),
);

/** The error of a submission that the gateway refused inside a stream. */
export const refusalError = (refusal: Refusal): PawlError =>
  new PawlError(isServerReason(refusal.reason) ? refusal.reason : "UNRECOGNISED", refusal.message, {
    code: CODES.get(refusal.code) ?? Code.Unknown,
    metadata: { ...refusal.metadata },
    violations: refusal.violations.map(({ path, reason, message }) => ({ path, reason, message })),
    retryAfterMs: refusal.retryDelay === undefined ? undefined : durationMs(refusal.retryDelay),
    requestId: refusal.originRequestId || undefined,
    serverReason: refusal.reason,
  });

/** The reason of a code when no server named one; connect-node has Aborted for a connection that was reset. */
const NAMELESS: ReadonlyMap<Code, PawlReason> = new Map<Code, PawlReason>([
  [Code.Canceled, "CALLER_CANCELLED"],
  [Code.DeadlineExceeded, "DEADLINE_PASSED"],
  [Code.Unimplemented, "UNKNOWN_METHOD"],
  [Code.PermissionDenied, "FORBIDDEN"],
  [Code.Unavailable, "UNREACHABLE"],
  [Code.Aborted, "UNREACHABLE"],
]);

function reasonOf(error: ConnectError, named: string | undefined, thrown: unknown): PawlReason {
  if (named !== undefined) return isServerReason(named) ? named : "UNRECOGNISED";
  return NAMELESS.get(error.code) ?? (isNetworkFault(thrown) ? "UNREACHABLE" : "UNRECOGNISED");
}

/** Whether an error in the chain of causes is of a socket: Node's E… codes, undici's codes, fetch's TypeError. */
function isNetworkFault(thrown: unknown): boolean {
  let error: unknown = thrown;
  for (let depth = 0; depth < 8 && error instanceof Error; depth++) {
    const code = "code" in error && typeof error.code === "string" ? error.code : "";
    if (error instanceof TypeError || /^(E[A-Z]+$|UND_ERR_|ERR_HTTP2_|ERR_STREAM_)/.test(code)) {
      return true;
    }
    error = error.cause;
  }
  return false;
}
