// Plain gRPC over HTTP/2, the way services and benchmarks call: the same methods as rpc-handler.ts, without its machinery for three
// protocols. Measured on a busy machine, an empty unary call costs 443 µs of CPU through connect-node; that is more than
// all our own work for it. Anything unusual (compression, JSON, other methods) is left to rpc-handler.
//
// States of a call: reading → answering → over (answered, failed, past its deadline, or gone); over is entered once.

import type { DescMethod, DescService, Message } from "@bufbuild/protobuf";
import {
  Code,
  ConnectError,
  createContextValues,
  type HandlerContext,
  type ServiceImpl,
} from "@connectrpc/connect";
import { parseTimeout, setTrailerStatus } from "@connectrpc/connect/protocol-grpc";
import { EngineError } from "@pawl/core/fault/engine-error";
import { type OnInternal, toConnectError } from "@pawl/platform/rpc/status";
import { UNARY_DEADLINE_MS } from "@pawl/platform/rpc/unary";
import { ATTRIBUTES, METRICS } from "@pawl/platform/telemetry/catalogue";
import { contextFrom, withSpan } from "@pawl/platform/telemetry/trace";
import { readable } from "@pawl/platform/wire/readable";
import { CALL_MS_MAX } from "./call-timeout.ts";
import { withErrorInfo } from "./complete-error.ts";
import {
  abandonKey,
  type EdgeHandler,
  type EdgeRequest,
  type EdgeResponse,
  isHttp2,
  pathOf,
} from "../request/exchange.ts";
import { readMessage, toFrame } from "./grpc-message.ts";
import { checkJsonForm, JSON_FORM_HEADER } from "./json-form.ts";
import { refuse } from "./refuse.ts";

/** A service and what it does. */
export interface Served {
  readonly service: DescService;
  readonly methods: Readonly<Record<string, unknown>>;
}

/** Pairs a service with its implementation, checked. */
export const served = <Service extends DescService>(
  service: Service,
  methods: ServiceImpl<Service>,
): Served => ({ service, methods: methods });

/** What our handlers ask of their context. */
type CallContext = Pick<HandlerContext, "signal" | "timeoutMs" | "values">;
type Unary = (request: Message, context: CallContext) => Promise<Message>;
type Streaming = (request: Message, context: CallContext) => AsyncIterable<Message>;

interface Route {
  readonly method: DescMethod;
  readonly name: string;
  // `served` has checked the implementation against the descriptor; here only its kind is known.
  readonly answer: unknown;
}

const GRPC = new Set(["application/grpc", "application/grpc+proto"]);
const OK = "0";

/** Answers unary and server-streaming methods of `services` for callers that speak plain gRPC. */
export function createGrpcHandler(
  services: readonly Served[],
  onInternal: OnInternal,
): EdgeHandler {
  const routes = new Map<string, Route>();
  for (const { service, methods } of services) {
    for (const method of service.methods) {
      const name = `${service.typeName}/${method.name}`;
      const isSimple = method.methodKind === "unary" || method.methodKind === "server_streaming";
      if (isSimple) routes.set(`/${name}`, { method, name, answer: methods[method.localName] });
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
      const deadlineMs = this.#arm();
      const message = await readMessage(this.#request, method.input);
      const context = this.#context(deadlineMs);
      await withSpan(name, settings, () => this.#answer(message, context));
    } catch (error) {
      this.#fail(error);
    }
  }

  /** When the call is past its time, by the caller's word or, for unary calls, by ours. @throws ConnectError */
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
    const header = this.#request.headers[JSON_FORM_HEADER];
    const form = checkJsonForm(header === undefined ? header : String(header));
    const frameOf = (output: Message): Buffer =>
      toFrame(method.output, readable(method.output, output, form));
    if (method.methodKind === "unary") {
      const output = await (answer as Unary)(message, context);
      if (this.#isOver) return;
      this.#open();
      this.#response.write(frameOf(output));
    } else {
      for await (const output of (answer as Streaming)(message, context)) {
        if (this.#isOver) return;
        if (!this.#response.headersSent) this.#open();
        if (!this.#response.write(frameOf(output))) await this.#drained();
      }
      if (this.#isOver) return;
      if (!this.#response.headersSent) this.#open();
    }
    this.#response.addTrailers({ "grpc-status": OK });
    this.#leave("OK");
    this.#response.end();
  }

  #open(): void {
    this.#response.writeHead(200, { "content-type": "application/grpc+proto" });
  }

  #drained(): Promise<void> {
    return new Promise((resolve) => {
      const settle = (): void => {
        this.#response.off("drain", settle);
        this.#response.off("close", settle);
        resolve();
      };
      this.#response.on("drain", settle);
      this.#response.on("close", settle);
    });
  }

  #fail(thrown: unknown): void {
    if (this.#isOver) return;
    // What gRPC itself says of a body keeps gRPC's code; everything else is an error of ours.
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
