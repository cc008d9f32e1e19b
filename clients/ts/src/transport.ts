// Transports: one over fetch, for callers that give only an address, and a wrapper that requests exact JSON. Requests of this API are
// single messages, so the body is sent whole: browsers cannot stream a request body over HTTP/1.1.

import type { Transport } from "@connectrpc/connect";
import type { UniversalClientFn } from "@connectrpc/connect/protocol";
import { createTransport } from "@connectrpc/connect/protocol-connect";

/** The server's limit of a message, with room for the envelope. */
const MESSAGE_BYTES_MAX = 8 * 1024 * 1024;

/** Speaks the Connect protocol in binary to the gateway at `baseUrl`. */
export function fetchTransport(baseUrl: string): Transport {
  return createTransport({
    baseUrl: baseUrl.replace(/\/+$/, ""),
    httpClient: fetchClient,
    useBinaryFormat: true,
    interceptors: [],
    acceptCompression: [],
    sendCompression: null,
    compressMinBytes: MESSAGE_BYTES_MAX,
    readMaxBytes: MESSAGE_BYTES_MAX,
    writeMaxBytes: MESSAGE_BYTES_MAX,
  });
}

const fetchClient: UniversalClientFn = async (request) => {
  const response = await fetch(request.url, {
    method: request.method,
    headers: request.header,
    body: request.body === undefined ? null : await collect(request.body),
    ...(request.signal === undefined ? {} : { signal: request.signal }),
  });
  return {
    status: response.status,
    header: response.headers,
    body: read(response.body),
    trailer: new Headers(),
  };
};

async function collect(chunks: AsyncIterable<Uint8Array>): Promise<Uint8Array<ArrayBuffer>> {
  const parts: Uint8Array[] = [];
  for await (const chunk of chunks) parts.push(chunk);
  const whole = new Uint8Array(parts.reduce((length, part) => length + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

/** Uses a reader, because not every browser can iterate a stream. */
async function* read(body: ReadableStream<Uint8Array> | null): AsyncGenerator<Uint8Array> {
  if (body === null) return;
  const reader = body.getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield value;
    }
  } finally {
    reader.releaseLock();
  }
}

/**
 * The same transport, whose calls request only the bytes of the users' JSON. Otherwise the gateway also makes readable values of the
 * `…_json` fields, and this client does not read those.
 */
export const withExactJson = (transport: Transport): Transport => ({
  unary: (method, signal, timeoutMs, header, input, contextValues) =>
    transport.unary(method, signal, timeoutMs, exact(header), input, contextValues),
  stream: (method, signal, timeoutMs, header, input, contextValues) =>
    transport.stream(method, signal, timeoutMs, exact(header), input, contextValues),
});

function exact(header: HeadersInit | undefined): Headers {
  const headers = new Headers(header);
  headers.set("pawl-json", "bytes");
  return headers;
}
