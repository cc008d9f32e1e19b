// The connection to the gateways over fetch, for browsers and other platforms than Node.

import type { Connect } from "./connection.ts";
import { failover } from "./failover.ts";
import { fetchTransport } from "./transport.ts";

export const connect: Connect = (addresses) => ({
  transport: failover(addresses.map(fetchTransport)),
  close: () => undefined,
});
