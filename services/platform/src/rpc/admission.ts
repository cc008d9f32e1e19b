// The checks before the handler of a grpc-js call: a known host, the token, and a request that arrives in time. The gateway's port has the
// same checks (gateway/src/http/guard.ts, half-open.ts).
//
// Race: the request arrives, or its caller leaves, at the moment when its time is up. The first of these ends the call, once.

import type { Http2Server, IncomingHttpHeaders } from "node:http2";
import { ServerInterceptingCall, type Server, type ServerInterceptor } from "@grpc/grpc-js";
import { EngineError } from "@pawl/core/fault/engine-error";
import { isInnerHost } from "../config/hosts.ts";
import type { Secret } from "../config/secret.ts";
import { isSameSecret } from "./same-secret.ts";
import { type OnInternal, toGrpcStatus } from "./status.ts";

interface AdmissionOptions {
  /** Host names besides loopback and IP addresses. */
  readonly allowedHosts: ReadonlySet<string>;
  /** How long a request may take to arrive: the whole request, or the first message of a stream. */
  readonly requestMs: number;
  readonly onInternal: OnInternal;
  /** Callers send the token as `authorization: Bearer <token>`. Health needs none. */
  readonly token?: Pick<Secret, "reveal"> | undefined;
}

const HEALTH = "/grpc.health.";

/** Refuses foreign hosts, and ends calls whose request does not arrive. */
export const admission =
  ({ allowedHosts, requestMs, onInternal, token }: AdmissionOptions): ServerInterceptor =>
  ({ requestStream, path }, call) => {
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
            const [given = ""] = metadata.get("authorization");
            if (
              token !== undefined &&
              !path.startsWith(HEALTH) &&
              !isSameSecret(String(given), `Bearer ${token.reveal()}`)
            ) {
              const message = "The token is missing or wrong. Send it as authorization: Bearer.";
              refuse(new EngineError("FORBIDDEN", message));
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

/** Longer than any call lives, and within the range of Node's timers. */
const TIMEOUT_S_MAX = Math.floor((2 ** 31 - 1) / 1_000);
const UNIT_S = { H: 3_600, M: 60, S: 1 } as const;

/**
 * Bounds the deadlines that callers set. grpc-js reduces them to 32 bits, so a deadline of a year would pass at once. Interceptors do not
 * see the header, and grpc-js hides its HTTP/2 servers. A test checks that they are still where this code expects them.
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
