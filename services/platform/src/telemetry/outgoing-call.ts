// The span of an outbound call. It names the server and never the path, because a path or a query may hold a secret.

import { SpanKind, SpanStatusCode } from "@opentelemetry/api";
import { ATTRIBUTES } from "./catalogue.ts";
import { inActiveTrace } from "./trace.ts";

interface Answer {
  readonly ok: boolean;
  readonly status?: number;
  readonly cause?: string;
}

/** Makes the call in a span if a recorded span is active. */
export function inCallSpan<Result extends Answer>(
  { method, url }: { readonly method: string; readonly url: string },
  call: () => Promise<Result>,
): Promise<Result> {
  const server = URL.parse(url);
  const attributes = {
    [ATTRIBUTES.httpMethod]: method,
    [ATTRIBUTES.serverAddress]: server?.hostname ?? "",
    [ATTRIBUTES.serverPort]: Number(server?.port ?? 0),
  };
  return inActiveTrace(method, { kind: SpanKind.CLIENT, attributes }, async (span) => {
    const answer = await call();
    if (answer.status !== undefined) span?.setAttribute(ATTRIBUTES.httpStatus, answer.status);
    if (answer.cause !== undefined) span?.setAttribute(ATTRIBUTES.cause, answer.cause);
    if (!answer.ok || (answer.status ?? 0) >= 400) span?.setStatus({ code: SpanStatusCode.ERROR });
    return answer;
  });
}
