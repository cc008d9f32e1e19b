// What a call to a grpc-js server must pass before its handler: a host that is known, and a request that arrives. The scheduler's port and
// the gateway's are alike in this (gateway/src/http/guard.ts, half-open.ts).
//
// Race survived: the request may arrive, or its caller leave, in the moment its time is up; the call is ended once, by whoever is first.

import type { Http2Server, IncomingHttpHeaders } from "node:http2";
import { ServerInterceptingCall, type Server, type ServerInterceptor } from "@grpc/grpc-js";
import { EngineError } from "@pawl/core/fault/engine-error";
import { isInnerHost } from "./hosts.ts";
import { type OnInternal, toGrpcStatus } from "./status.ts";

export interface AdmissionOptions {
  /** Names besides loopback and addresses. */
  readonly allowedHosts: ReadonlySet<string>;
  /** How long a request may take to arrive: the whole of it, or the first message of a stream. */
  readonly requestMs: number;
  readonly onInternal: OnInternal;
}

/** Refuses foreign hosts, and ends calls whose request does not come. */
export const admission =
  ({ allowedHosts, requestMs, onInternal }: AdmissionOptions): ServerInterceptor =>
  ({ requestStream }, call) => {
    const refuse = (error: EngineError): void => call.sendStatus(toGrpcStatus(error, onInternal));
    const late = (): void => {
      const what = requestStream ? "first message" : "request";
      refuse(new EngineError("DEADLINE_PASSED", `The ${what} did not arrive in ${requestMs} ms.`));
    };
    let timer: NodeJS.Timeout | undefined;
    const arrived = (): void => clearTimeout(timer);
    return new ServerInterceptingCall(call, {
      start: (next) =>
        next({
          onReceiveMetadata: (metadata, pass) => {
            const named = metadata.get("host");
            const host = call.getHost();
            const isOne = named.every((value) => value === host);
            if (!isOne || !isInnerHost(host, allowedHosts)) {
              refuse(new EngineError("FORBIDDEN", "This service is not called by that host name."));
              return;
            }
            timer = setTimeout(late, requestMs);
            pass(metadata);
          },
          onReceiveMessage: (message, pass) => {
            if (requestStream) arrived();
            pass(message);
          },
          onReceiveHalfClose: (pass) => {
            arrived();
            pass();
          },
          onCancel: arrived,
        }),
      sendStatus: (status, next) => {
        arrived();
        next(status);
      },
    });
  };

/** Longer than any call lives, and what a timer of Node can hold. */
const TIMEOUT_S_MAX = Math.floor((2 ** 31 - 1) / 1_000);
const UNIT_S = { H: 3_600, M: 60, S: 1 } as const;

/**
 * Bounds the deadlines that callers name. grpc-js makes 32 bits of them, so that a year of hours is over at once. No interceptor sees the
 * header, and grpc-js keeps its HTTP/2 servers to itself; a test holds it to having them.
 */
export const boundTimeouts = (server: Server): void => {
  const { http2Servers } = server as unknown as {
    readonly http2Servers: ReadonlyMap<Http2Server, unknown>;
  };
  for (const http2Server of http2Servers.keys())
    http2Server.prependListener("stream", (_stream, headers: IncomingHttpHeaders) => {
      const asked = /^(\d{1,8})([HMS])$/.exec(String(headers["grpc-timeout"] ?? ""));
      if (asked === null) return;
      // The pattern allows no other unit.
      const seconds = Number(asked[1]) * UNIT_S[asked[2] as keyof typeof UNIT_S];
      if (seconds > TIMEOUT_S_MAX) headers["grpc-timeout"] = `${TIMEOUT_S_MAX}S`;
    });
};
