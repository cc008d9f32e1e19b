// One unary call on the server. The handler's signal aborts with the caller, the deadline or the server's own limit, and every throw is
// mapped once. Race: the caller leaves while the handler answers. The answer is then dropped.

import type { handleUnaryCall } from "@grpc/grpc-js";
import { EngineError } from "@pawl/core/fault/engine-error";
import { toGrpcStatus, type OnInternal } from "./status.ts";

/** The facts about a call that its handler gets. */
interface UnaryCall {
  /** Aborted when no caller waits for the answer any more. */
  readonly signal: AbortSignal;
  /** The time after which the answer is useless, in epoch milliseconds. It is always finite. */
  readonly deadlineAt: number;
}

/** The implementation of one method. */
export type UnaryHandler<Request, Response> = (
  request: Request,
  call: UnaryCall,
) => Promise<Response>;

/** The time limit of a call without a deadline, or with a later one. */
export const UNARY_DEADLINE_MS = 30_000;

/** A grpc-js handler of `handler`. */
export const unary =
  <Request, Response>(
    handler: UnaryHandler<Request, Response>,
    onInternal: OnInternal,
    deadlineMs: number = UNARY_DEADLINE_MS,
  ): handleUnaryCall<Request, Response> =>
  (call, callback) => {
    const controller = new AbortController();
    const deadlineAt = Math.min(Number(call.getDeadline()), Date.now() + deadlineMs);
    const timer = setTimeout(
      () => controller.abort(new EngineError("DEADLINE_PASSED", "the deadline of the call passed")),
      Math.max(0, deadlineAt - Date.now()),
    );
    call.on("cancelled", () =>
      controller.abort(new EngineError("CALLER_CANCELLED", "the caller went away")),
    );
    const { signal } = controller;
    const answer = async (): Promise<void> => {
      let response: Response;
      try {
        // See `readOrMalformed`.
        if (call.request instanceof EngineError) throw call.request;
        const handled = handler(call.request, { signal, deadlineAt });
        response = await Promise.race([handled, aborted(signal)]);
      } catch (error) {
        callback(toGrpcStatus(reasonOf(error, signal), onInternal));
        return;
      } finally {
        clearTimeout(timer);
      }
      callback(null, response);
    };
    void answer();
  };

/** Rejects when the signal aborts, so that the caller gets an answer in time even if the handler ignores its signal. */
const aborted = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason), { once: true });
  });

/** After the signal has aborted, every throw is a consequence of it. */
const reasonOf = (error: unknown, signal: AbortSignal): unknown =>
  signal.aborted && !(error instanceof EngineError) ? signal.reason : error;
