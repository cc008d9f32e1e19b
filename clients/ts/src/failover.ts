// One transport over several gateways. Calls use one gateway until it cannot be reached, and then the next one. The caller repeats the
// failed call, as with a single gateway.

import type { Transport } from "@connectrpc/connect";
import { pawlErrorFrom } from "./errors.ts";

/** @throws RangeError without a transport */
export function failover(transports: readonly Transport[]): Transport {
  const [only] = transports;
  if (only === undefined) throw new RangeError("name at least one address of a gateway");
  if (transports.length === 1) return only;
  let at = 0;
  const current = (): Transport => transports[at % transports.length] ?? only;
  const watching = async <Answer>(
    used: Transport,
    call: (transport: Transport) => Promise<Answer>,
  ): Promise<Answer> => {
    try {
      return await call(used);
    } catch (thrown) {
      // Many calls may fail at once. Only the first of them switches to the next gateway.
      if (pawlErrorFrom(thrown).retryable && used === current()) at += 1;
      throw thrown;
    }
  };
  return {
    unary: (...args) => watching(current(), (transport) => transport.unary(...args)),
    stream: (...args) => watching(current(), (transport) => transport.stream(...args)),
  };
}
