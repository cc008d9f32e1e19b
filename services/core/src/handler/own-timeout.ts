// Whether a throw means that a time limit passed: of AbortSignal.timeout, of a socket, of fetch, of an RPC, or of a library. Libraries share
// no class for it, so names and codes decide. An error that was made from such an error counts too.

const NAMES: ReadonlySet<unknown> = new Set(["TimeoutError"]);
const CODES: ReadonlySet<unknown> = new Set([
  "ETIMEDOUT",
  "ESOCKETTIMEDOUT",
  "UND_ERR_CONNECT_TIMEOUT",
  "UND_ERR_HEADERS_TIMEOUT",
  "UND_ERR_BODY_TIMEOUT",
]);
/** `DEADLINE_EXCEEDED` of gRPC. */
const DEADLINE_EXCEEDED = 4;
const RPC_ERRORS: ReadonlySet<unknown> = new Set(["ConnectError", "PawlError"]);

/** Longer chains of causes, and circles, end here. */
const CHAIN_MAX = 5;

/** Never throws, whatever the value is. */
export function isTimeout(error: unknown): boolean {
  try {
    let at = error;
    for (let depth = 0; depth < CHAIN_MAX && at instanceof Error; depth++) {
      if (isOwn(at)) return true;
      at = at.cause;
    }
    return false;
  } catch {
    return false;
  }
}

function isOwn(error: Error & { readonly code?: unknown; readonly details?: unknown }): boolean {
  const { name, code } = error;
  if (NAMES.has(name) || CODES.has(code)) return true;
  // @grpc/grpc-js has no name of its own; its errors have `details`.
  return code === DEADLINE_EXCEEDED && (RPC_ERRORS.has(name) || typeof error.details === "string");
}
