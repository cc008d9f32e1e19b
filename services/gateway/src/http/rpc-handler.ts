// RPC over Node's HTTP: gRPC, gRPC-web and Connect share one path per method, told apart by content type. Does what
// connect-node's adapter does, and besides gives the framework's own errors (a body that does not parse, a message that is
// too large) the details every error of ours has.

import type { ConnectRouter } from "@connectrpc/connect";
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
import { LIMITS } from "@pawl/core/data/limits";
import { EngineError } from "@pawl/core/fault/engine-error";
import { boundTimeout } from "./call-timeout.ts";
import { completeError } from "./complete-error.ts";
import { GZIP, unknownEncoding, wantPlainAnswers } from "./encoding.ts";
import {
  abandonKey,
  type EdgeHandler,
  type EdgeRequest,
  type EdgeResponse,
  pathOf,
} from "../request/exchange.ts";
import { strictText } from "./strict-text.ts";

export interface RpcHandlerOptions {
  readonly routes: (router: ConnectRouter) => void;
  readonly interceptors: Interceptor[];
  readonly refuse: (request: EdgeRequest, response: EdgeResponse, error: unknown) => void;
  /** Hears of connections that broke while they were answered; nothing else can be done. */
  readonly onBroken: (method: string, error: unknown) => void;
}

/** `textDecoder` is taken by Connect's JSON serialization, though its public type leaves it out; a wire test holds it to that. */
const JSON_OPTIONS = { ignoreUnknownFields: false, textDecoder: strictText };

const RPC_PATH = /^\/[a-z][\w]*(?:\.[\w]+)+\/\w+$/;

/** Answers the methods of `routes`, and other paths that look like methods with UNKNOWN_METHOD. */
export function createRpcHandler(options: RpcHandlerOptions): EdgeHandler {
  const router = createConnectRouter({
    interceptors: options.interceptors,
    readMaxBytes: LIMITS.messageBytes,
    writeMaxBytes: 2 * LIMITS.messageBytes,
    acceptCompression: [GZIP],
    jsonOptions: JSON_OPTIONS,
    // Keeping what nobody reads would let 4 MB of tiny unknown fields take seconds and 400 MB (measured).
    binaryOptions: { readUnknownFields: false },
  });
  options.routes(router);
  const handlers = new Map(router.handlers.map((handler) => [handler.requestPath, handler]));
  return (request, response) => {
    const path = pathOf(request);
    const handler = handlers.get(path);
    if (handler !== undefined) {
      void answer(handler, request, response, options);
      return true;
    }
    if (request.method !== "POST" && !RPC_PATH.test(path)) return false;
    options.refuse(
      request,
      response,
      new EngineError("UNKNOWN_METHOD", "There is no such method here."),
    );
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
    // An answer may come before the body is over, such as that it is too large. What is left is read and dropped: ending the
    // connection there would cost the caller its answer.
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
