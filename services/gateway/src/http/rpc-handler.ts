// RPC over Node's HTTP. gRPC, gRPC-web and Connect share one path for each method, and the content type tells them apart. This file does
// the work of connect-node's adapter. It also gives the framework's own errors the details that every error of ours has: for a body that
// does not parse, and for a message that is too large.

import {
  ConnectError,
  createConnectRouter,
  createContextValues,
  type Interceptor,
} from "@connectrpc/connect";
import {
  universalRequestFromNodeRequest,
  universalResponseToNodeResponse,
} from "@connectrpc/connect-node";
import type { UniversalHandler } from "@connectrpc/connect/protocol";
import { parseTimeout as parseConnect } from "@connectrpc/connect/protocol-connect";
import { parseTimeout as parseGrpc } from "@connectrpc/connect/protocol-grpc";
import { LIMITS } from "@pawl/core/data/limits";
import { EngineError } from "@pawl/core/fault/engine-error";
import {
  abandonKey,
  type EdgeHandler,
  type EdgeRequest,
  type EdgeResponse,
  pathOf,
  type Refuse,
  type Served,
} from "../request/exchange.ts";
import { completeError } from "./complete-error.ts";
import { GZIP, unknownEncoding, wantPlainAnswers } from "./encoding.ts";

interface RpcHandlerOptions {
  readonly services: readonly Served[];
  readonly interceptors: Interceptor[];
  readonly refuse: Refuse;
  /** Called for a connection that broke while the gateway answered. */
  readonly onBroken: (method: string, error: unknown) => void;
}

const RPC_PATH = /^\/[a-z][\w]*(?:\.[\w]+)+\/\w+$/;

/** Answers the methods of `services`. Answers other paths that look like methods with UNKNOWN_METHOD. */
export function createRpcHandler(options: RpcHandlerOptions): EdgeHandler {
  const router = createConnectRouter({
    interceptors: options.interceptors,
    readMaxBytes: LIMITS.messageBytes,
    writeMaxBytes: 2 * LIMITS.messageBytes,
    acceptCompression: [GZIP],
    jsonOptions: JSON_OPTIONS,
    // If unknown fields were kept, 4 MB of tiny ones would take seconds and 400 MB (measured).
    binaryOptions: { readUnknownFields: false },
  });
  for (const { addTo } of options.services) addTo(router);
  const handlers = new Map(router.handlers.map((handler) => [handler.requestPath, handler]));
  return (request, response) => {
    const path = pathOf(request);
    const handler = handlers.get(path);
    if (handler !== undefined) {
      void answer(handler, request, response, options);
      return true;
    }
    if (request.method !== "POST" && !RPC_PATH.test(path)) return false;
    const error = new EngineError("UNKNOWN_METHOD", "There is no such method here.");
    options.refuse(request, response, error);
    return true;
  };
}

async function answer(
  handler: UniversalHandler,
  request: EdgeRequest,
  response: EdgeResponse,
  options: RpcHandlerOptions,
): Promise<void> {
  try {
    const values = createContextValues().set(abandonKey, () => void response.destroy());
    const unknown = unknownEncoding(request);
    if (unknown !== undefined) {
      response.setHeader(...unknown.header);
      options.refuse(request, response, unknown.error);
      return;
    }
    const asked = universalRequestFromNodeRequest(request, response, undefined, values);
    wantPlainAnswers(asked.header);
    boundTimeout(asked.header);
    // The answer may be sent before the end of the body, for example if the body is too large. The gateway reads and drops the rest. If it
    // closed the connection, the caller would not get the answer.
    const body = request.iterator({ destroyOnReturn: false });
    response.once("finish", () => request.resume());
    const answered = await handler({ ...asked, body });
    await universalResponseToNodeResponse(await completeError(answered), response);
  } catch (error) {
    options.onBroken(handler.requestPath, ConnectError.from(error));
    if (response.headersSent) response.destroy();
    else options.refuse(request, response, error);
  }
}

/** The longest deadline of a call, almost 25 days: a timer of Node with a longer time would fire at once. */
export const CALL_MS_MAX = 2 ** 31 - 1;

/** Replaces a deadline that is too long by the longest one. The protocols themselves refuse text that is no number. */
function boundTimeout(header: Headers): void {
  const isTooLong = ({ timeoutMs = 0 }: { readonly timeoutMs?: number }): boolean =>
    timeoutMs > CALL_MS_MAX;
  // gRPC allows eight digits, so the time is in seconds.
  if (isTooLong(parseGrpc(header.get("grpc-timeout"), CALL_MS_MAX)))
    header.set("grpc-timeout", `${Math.floor(CALL_MS_MAX / 1_000)}S`);
  if (isTooLong(parseConnect(header.get("connect-timeout-ms"), CALL_MS_MAX)))
    header.set("connect-timeout-ms", String(CALL_MS_MAX));
}

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/**
 * Decodes a JSON body without replacing anything. It refuses bytes that are not UTF-8, and a byte order mark, which JSON on the wire must
 * not have (RFC 8259, 8.1). `textDecoder` works although Connect's public type leaves it out. A wire test checks that.
 */
const JSON_OPTIONS = {
  ignoreUnknownFields: false,
  textDecoder: {
    /** @throws Error that tells the caller what to do */
    decode: (bytes: Uint8Array): string => {
      let text = "";
      try {
        text = utf8.decode(bytes);
      } catch {
        throw new Error("the body is not UTF-8");
      }
      if (!text.startsWith("\ufeff")) return text;
      throw new Error("the body begins with a byte order mark; send it without one");
    },
  },
};
