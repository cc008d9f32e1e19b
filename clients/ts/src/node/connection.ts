// The connection to the gateways from Node: gRPC over HTTP/2. Starts and ends share standing streams (`submit.ts`). Every other method is a
// single call.

import { createGrpcTransport, Http2SessionManager } from "@connectrpc/connect-node";
import type { Transport } from "@connectrpc/connect";
import type { Connect } from "../connection.ts";
import { failover } from "../failover.ts";
import { pooled } from "./pool.ts";
import { createSubmitter } from "./submit.ts";
import { openSubmitStream } from "./submit-stream.ts";

export const connect: Connect = (addresses, options) => {
  const sessions: Http2SessionManager[] = [];
  const transportTo = (address: string): Transport =>
    pooled(() => {
      const sessionManager = new Http2SessionManager(address);
      sessions.push(sessionManager);
      return createGrpcTransport({ baseUrl: address, sessionManager });
    });
  const submitter = createSubmitter(addresses, openSubmitStream, options);
  return {
    transport: failover(addresses.map(transportTo)),
    submitter,
    close: () => {
      submitter.close();
      for (const session of sessions) session.abort();
    },
  };
};
