// This client reads the users' JSON from the exact bytes of the `…_json` fields. The gateway also makes readable values of them for
// callers that do not say what they want; this says so, and spares both sides the work.

import type { Transport } from "@connectrpc/connect";

const HEADER = ["pawl-json", "bytes"] as const;

/** The same transport, asking for the bytes only. */
export const withExactJson = (transport: Transport): Transport => ({
  unary: (method, signal, timeoutMs, header, input, contextValues) =>
    transport.unary(method, signal, timeoutMs, asked(header), input, contextValues),
  stream: (method, signal, timeoutMs, header, input, contextValues) =>
    transport.stream(method, signal, timeoutMs, asked(header), input, contextValues),
});

function asked(header: HeadersInit | undefined): Headers {
  const headers = new Headers(header);
  headers.set(...HEADER);
  return headers;
}
