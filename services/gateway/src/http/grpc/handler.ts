// Plain gRPC over HTTP/2, as services and benchmarks call it. It has the same methods as rpc-handler.ts, without its code for three
// protocols. On a busy machine an empty unary call cost 443 µs of CPU through connect-node, more than all of the gateway's own work for it.
// The file rpc-handler.ts answers all other calls: compression, JSON, other methods.
//
// States of a call: reading → answering → over (answered, failed, past its deadline, or gone); over is entered once.

import type { DescMethod, Message } from "@bufbuild/protobuf";
import { Code, ConnectError, createContextValues, type HandlerContext } from "@connectrpc/connect";
import { parseTimeout, setTrailerStatus } from "@connectrpc/connect/protocol-grpc";
import { EngineError } from "@pawl/core/fault/engine-error";
import { type OnInternal, toConnectError } from "@pawl/platform/rpc/status";
import { UNARY_DEADLINE_MS } from "@pawl/platform/rpc/unary";
import { ATTRIBUTES, METRICS } from "@pawl/platform/telemetry/catalogue";
import { contextFrom, withSpan } from "@pawl/platform/telemetry/trace";
import { readable } from "@pawl/platform/wire/readable";
import { CALL_MS_MAX } from "../rpc-handler.ts";
import { withErrorInfo } from "../complete-error.ts";
import {
  abandonKey,
  drained,
  type EdgeHandler,
  type EdgeRequest,
  type EdgeResponse,
  isHttp2,
  pathOf,
  type Served,
} from "../../request/exchange.ts";
import { readMessage, readMessages, toFrame } from "./message.ts";
import { checkJsonForm, JSON_FORM_HEADER } from "../json-form.ts";
import { refuse } from "../refuse.ts";

/** The part of the context that our handlers use. */
type CallContext = Pick<HandlerContext, "signal" | "timeoutMs" | "values">;
type Unary = (request: Message, context: CallContext) => Promise<Message>;
type Streaming = (request: Message, context: CallContext) => AsyncIterable<Message>;
type Bidi = (requests: AsyncIterable<Message>, context: CallContext) => AsyncIterable<Message>;

interface Route {
  readonly method: DescMethod;
  readonly name: string;
  // `served` has checked the implementation against the descriptor. This type knows only its kind.
  readonly answer: unknown;
}

const GRPC = new Set(["application/grpc", "application/grpc+proto"]);
const OK = "0";

/** Answers unary, server-streaming and bidirectional methods of `services` for callers that speak plain gRPC. */
export function createGrpcHandler(
  services: readonly Served[],
  onInternal: OnInternal,
): EdgeHandler {
  const routes = new Map<string, Route>();
  for (const { service, methods } of services) {
    for (const method of service.methods) {
      const name = `${service.typeName}/${method.name}`;
      if (method.methodKind !== "client_streaming")
        routes.set(`/${name}`, { method, name, answer: methods[method.localName] });
    }
  }
  return (request, response) => {
    const { headers } = request;
    if (!isHttp2(request) || request.method !== "POST") return false;
    if (!GRPC.has(headers["content-type"] ?? "")) return false;
    const encoding = headers["grpc-encoding"] ?? "identity";
    const route = encoding === "identity" ? routes.get(pathOf(request)) : undefined;
    if (route === undefined) return false;
    void new Call(route, request, response, onInternal).run();
    return true;
  };
}

/** One call. */
class Call {
  readonly #route: Route;
  readonly #request: EdgeRequest;
  readonly #response: EdgeResponse;
  readonly #onInternal: OnInternal;
  readonly #abort = new AbortController();
  readonly #startedAt = performance.now();
  #timer: NodeJS.Timeout | undefined;
  #isOver = false;

  constructor(route: Route, request: EdgeRequest, response: EdgeResponse, onInternal: OnInternal) {
    this.#route = route;
    this.#request = request;
    this.#response = response;
    this.#onInternal = onInternal;
  }

  async run(): Promise<void> {
    this.#response.once("close", () => this.#leave("CANCELLED"));
    const { name, method } = this.#route;
    const traceparent = this.#request.headers["traceparent"];
    const settings = {
      parent: contextFrom(typeof traceparent === "string" ? traceparent : undefined),
      attributes: { [ATTRIBUTES.rpcSystem]: "grpc", [ATTRIBUTES.rpcMethod]: name },
    };
    try {
      const context = this.#context(this.#arm());
      // A standing stream has no span, because the span would end with the connection, hours later.
      if (method.methodKind === "bidi_streaming") return await this.#converse(context);
      const message = await readMessage(this.#request, method.input);
      await withSpan(name, settings, () => this.#answer(message, context));
    } catch (error) {
      this.#fail(error);
    }
  }

  /** Starts the timer of the call's deadline, and returns the deadline: the caller's, or ours for a unary call. @throws ConnectError */
  #arm(): number | undefined {
    const header = this.#request.headers["grpc-timeout"];
    const asked = parseTimeout(typeof header === "string" ? header : null, Number.MAX_SAFE_INTEGER);
    if (asked.error !== undefined) throw asked.error;
    const isUnary = this.#route.method.methodKind === "unary";
    const boundMs = isUnary ? UNARY_DEADLINE_MS : CALL_MS_MAX;
    const askedMs = asked.timeoutMs ?? (isUnary ? UNARY_DEADLINE_MS : undefined);
    if (askedMs === undefined) return undefined;
    const leftMs = Math.min(askedMs, boundMs);
    const late = (): void =>
      this.#fail(new EngineError("DEADLINE_PASSED", "The call's time was up."));
    this.#timer = setTimeout(late, leftMs);
    return performance.now() + leftMs;
  }

  #context(deadlineMs: number | undefined): CallContext {
    return {
      signal: this.#abort.signal,
      timeoutMs: () => (deadlineMs === undefined ? undefined : deadlineMs - performance.now()),
      values: createContextValues().set(abandonKey, () => void this.#response.destroy()),
    };
  }

  async #answer(message: Message, context: CallContext): Promise<void> {
    const { answer, method } = this.#route;
    if (method.methodKind !== "unary")
      return this.#send((answer as Streaming)(message, context), this.#framing());
    const frameOf = this.#framing();
    const output = await (answer as Unary)(message, context);
    if (this.#isOver) return;
    this.#open();
    this.#response.write(frameOf(output));
    this.#end();
  }

  async #converse(context: CallContext): Promise<void> {
    const { answer, method } = this.#route;
    const requests = readMessages(this.#request, method.input);
    await this.#send((answer as Bidi)(requests, context), this.#framing());
  }

  /** Writes messages in the form that the caller asks for. @throws EngineError for an unknown form */
  #framing(): (output: Message) => Buffer {
    const { output: schema } = this.#route.method;
    const header = this.#request.headers[JSON_FORM_HEADER];
    const form = checkJsonForm(header === undefined ? header : String(header));
    return (output) => toFrame(schema, readable(schema, output, form));
  }

  async #send(
    outputs: AsyncIterable<Message>,
    frameOf: (output: Message) => Buffer,
  ): Promise<void> {
    for await (const output of outputs) {
      if (this.#isOver) return;
      if (!this.#response.headersSent) this.#open();
      if (!this.#response.write(frameOf(output))) await drained(this.#response);
    }
    if (this.#isOver) return;
    if (!this.#response.headersSent) this.#open();
    this.#end();
  }

  #end(): void {
    this.#response.addTrailers({ "grpc-status": OK });
    this.#leave("OK");
    this.#response.end();
  }

  #open(): void {
    this.#response.writeHead(200, { "content-type": "application/grpc+proto" });
  }

  #fail(thrown: unknown): void {
    if (this.#isOver) return;
    // An error of gRPC's framing keeps its code. Every other throw is mapped like an error of ours.
    const error =
      thrown instanceof ConnectError
        ? withErrorInfo(thrown)
        : toConnectError(thrown, this.#onInternal);
    this.#leave(Code[error.code] ?? "Unknown");
    this.#abort.abort(error);
    if (!this.#response.headersSent) {
      refuse(this.#request, this.#response, error);
      return;
    }
    this.#response.addTrailers(Object.fromEntries(setTrailerStatus(new Headers(), error)));
    this.#response.end();
  }

  #leave(code: string): void {
    if (this.#isOver) return;
    this.#isOver = true;
    clearTimeout(this.#timer);
    if (code === "CANCELLED")
      this.#abort.abort(new ConnectError("the caller went away", Code.Canceled));
    METRICS.rpcServerCallDuration.record((performance.now() - this.#startedAt) / 1_000, {
      rpc_method: this.#route.name,
      rpc_response_status_code: code.replace(/(?<=[a-z])(?=[A-Z])/g, "_").toUpperCase(),
    });
  }
}
