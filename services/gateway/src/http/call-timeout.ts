// A caller's deadline, bounded: Node's timers hold 31 bits, and one that is asked for more goes off at once. A deadline beyond that is
// taken as the longest there is, almost 25 days; what is no number at all is refused by the protocols themselves.

import { parseTimeout as parseConnect } from "@connectrpc/connect/protocol-connect";
import { parseTimeout as parseGrpc } from "@connectrpc/connect/protocol-grpc";

/** The longest time a call may be given. */
export const CALL_MS_MAX = 2 ** 31 - 1;

/** Puts a bounded deadline in the place of one that is too long. */
export function boundTimeout(header: Headers): void {
  const grpc = header.get("grpc-timeout");
  // gRPC allows eight digits, which milliseconds would exceed.
  if (isTooLong(parseGrpc(grpc, CALL_MS_MAX)))
    header.set("grpc-timeout", `${Math.floor(CALL_MS_MAX / 1_000)}S`);
  if (isTooLong(parseConnect(header.get("connect-timeout-ms"), CALL_MS_MAX)))
    header.set("connect-timeout-ms", String(CALL_MS_MAX));
}

const isTooLong = ({ timeoutMs = 0 }: { readonly timeoutMs?: number }): boolean =>
  timeoutMs > CALL_MS_MAX;
